"""Audit of several reports by the same user: what the ledger calls a deployment."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tasks.client.randomized_response import flip_probability
from tasks.evaluation.audits.case import AuditCase, Copies
from tasks.evaluation.audits.features.vectors import UNIT_BOUNDS, vectors
from tasks.evaluation.audits.lists.neighbour_lists import list_outputs, reported
from tasks.reports.ledgers.composition import compose

UNIT = "feature vector and one bit of the list"
USERS, DIMENSIONS = 64, 4
COPIES = 1
"""Which view of a list shows copies; the bit that differs is its last digit."""


def composed_cases() -> list[AuditCase]:
    """One report of features and one of the list."""
    return [_composed(*budgets) for budgets in (("0.5", "0.5"), ("1", "1"), ("0.5", "1.5"), ("2", "4"))]


def _composed(eps_x: str, eps_a: str) -> AuditCase:
    flip = flip_probability(eps_a)
    rest = (1 - flip) ** (USERS - 1)
    return AuditCase(
        "multi-bit + randomised response (directed)",
        f"eps_x {eps_x} + eps_a {eps_a}",
        UNIT,
        float(compose([eps_x, eps_a])),
        partial(_both, eps_x, eps_a, partial(reported, eps_a, "directed")),
        300_000,
        copies=Copies(rest * (1 - flip), rest * flip),
    )


def _both(
    eps_x: str, eps_a: str, report: partial, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    ratios = vectors(eps_x, DIMENSIONS, UNIT_BOUNDS, changed, draws, rng)[0]
    lists = list_outputs(report, "directed", eps_a, USERS, False, changed, draws, rng)
    return np.array([2 * ratios + lists[COPIES] % 2, lists[COPIES]])
