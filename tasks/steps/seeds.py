"""Seeds of the steps: what each is derived for, by study, point and role; splits are drawn from ``split_seed``.

The curator's randomness is public, and never a function of the noise's own seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tasks.seeds import derive_seed

PUBLIC_ROOT = 0
EVALUATION = "bench"
"""The evaluation's role. Seeds are hashed from this word: another one draws other splits."""


def curator_seed(seed: int | None, *, study: str, dataset: str, point: str, repeat: int, role: str = "curator") -> int:
    """A seed for the curator's part of a point; with ``seed: null`` only the users' noise is secret."""
    root = PUBLIC_ROOT if seed is None else seed
    derived = derive_seed(root, study=study, dataset=dataset, point=point, repeat=repeat, role=role)
    assert derived is not None
    return derived


@dataclass(frozen=True)
class Seed:
    """What a step's own seed is derived for.

    Attributes:
        study: the study, or what several studies share.
        point: the rest of the purpose, with a step's arguments in braces.
        role: the party, and for the client what it draws.
        derive: ``curator_seed``, or ``derive_seed`` where a root of None leaves the draw to the operating system.
    """

    study: str
    point: str
    role: str = "curator"
    derive: Callable[..., int | None] = curator_seed

    def of(self, *, dataset: str, seed: int | None = None, repeat: int = 0, **arguments: object) -> Any:
        """The seed for these arguments of a step; an int, or None as ``derive`` says."""
        purpose = self.point.format(dataset=dataset, **arguments)
        return self.derive(seed, study=self.study, dataset=dataset, point=purpose, repeat=repeat, role=self.role)


def split_seed(point: str) -> Seed:
    """The seed of a split, which all studies of a data set share: another ``point`` draws another split.

    A root of None gives none: with ``seed: null`` the flows ask for the split of seed 0 (``Study.public_seed``).
    """
    return Seed("split", point, EVALUATION, derive_seed)
