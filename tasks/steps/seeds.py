"""The curator's randomness: public, and never a function of the noise's own seed."""

from __future__ import annotations

from tasks.seeds import derive_seed

PUBLIC_ROOT = 0


def curator_seed(seed: int | None, *, study: str, dataset: str, point: str, repeat: int, role: str = "curator") -> int:
    """A seed for the curator's part of a point; with ``seed: null`` only the users' noise is secret."""
    root = PUBLIC_ROOT if seed is None else seed
    derived = derive_seed(root, study=study, dataset=dataset, point=point, repeat=repeat, role=role)
    assert derived is not None
    return derived
