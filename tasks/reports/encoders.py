"""The encoders of graph embeddings by name, and what each guarantees; ``tasks.client`` has their laws.

A new encoder is a name here with what it guarantees, a branch in ``tasks.client.embedding_encoder`` (its law, its line
of the ledger), a budget in ``tasks.reports.embedding_budget`` and a case in ``tasks.evaluation.audits.embeddings``.
Parameters and the studies' ledgers read this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from tasks.epsilon import INFINITE, canonical_epsilon
from tasks.errors import UserError

Encoder = Literal["per_row", "row", "paper", "gaussian_scale"]
ENCODERS: tuple[Encoder, ...] = get_args(Encoder)
GUARANTEES: Mapping[str, str] = {
    "per_row": "eps for the graph",
    "row": "eps for one row of H",
    "paper": "eps/n for the graph",
    "gaussian_scale": "none",
}
"""By encoder, under noise that nobody can reproduce; the ledger's lines have the words."""


def checked_encoder(encoder: str) -> Encoder:
    """The encoder, or UserError naming the known ones."""
    for known in ENCODERS:
        if encoder == known:
            return known
    raise UserError(f"encoder: {encoder!r} is unknown; use one of {', '.join(ENCODERS)}")


def encoder_setting(encoder: str, value: object) -> str:
    """Canonical budget, or standard deviation for ``gaussian_scale``; ``"1/n"`` and ``"inf"`` (no noise) included.

    The source calls no noise "eps = 0"; a scale of 0 is therefore accepted and becomes ``"inf"``, a budget of 0 is not.
    """
    if checked_encoder(encoder) == "gaussian_scale" and str(value).strip() in {"0", "0.0"}:
        return INFINITE
    return canonical_epsilon(value, name="eps", per_node=True)
