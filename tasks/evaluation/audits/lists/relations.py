"""Audit of randomised response per relation: what both ends say of it."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tasks.client.randomized_response import flip_probability
from tasks.evaluation.audits.case import AuditCase, Copies, gathered, joined
from tasks.evaluation.audits.lists.inputs import drawn, lists_of_all_kinds
from tasks.evaluation.audits.lists.neighbour_lists import MODES, REPORTS_AT_ONCE, list_line, reported
from tasks.reports.edge_mode import EdgeMode

USERS = 64


def relation_cases() -> list[AuditCase]:
    """The modes in which both ends report a relation; the third has it in ``neighbour_lists``."""
    return [_case(mode, epsilon) for mode in MODES[:2] for epsilon in ("0.5", "1", "2")]


def _case(mode: EdgeMode, epsilon: str) -> AuditCase:
    line, flip = list_line(epsilon, mode), flip_probability(epsilon)
    rest = (1 - flip) ** (USERS - 2)
    return AuditCase(
        line.mechanism,
        f"eps_a {epsilon}, {USERS} users",
        "relation",
        float(line.relation_epsilon or "nan"),
        partial(_outputs, mode, epsilon),
        400_000,
        copies=Copies(rest * (1 - flip) ** 2, rest * flip**2, 1 - flip),
    )


def _outputs(mode: EdgeMode, epsilon: str, changed: bool, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """User i and user N-1-i have a relation or not: both bits, whose they are, and the flips in both lists."""
    lists = lists_of_all_kinds(mode, USERS)
    low = np.arange(USERS // 2)
    high = USERS - 1 - low
    lists[low, high] = lists[high, low] = changed
    report, at_once = partial(reported, epsilon, mode), min(REPORTS_AT_ONCE, -(-draws // len(low)))

    def pairs() -> NDArray[np.int64]:
        reports = drawn(lists, mode, report, at_once, rng)
        flips = (reports ^ lists).sum(axis=2)
        said = (reports[:, low, high], 2), (reports[:, high, low], 2)
        rest = [flips[:, a] - (reports[:, a, b] ^ changed) for a, b in ((low, high), (high, low))]
        views = [
            joined((low, len(low)), *said),
            joined((rest[0] == 0, 2), (rest[1] == 0, 2), *said),
            joined((rest[0] % 2, 2), (rest[1] % 2, 2), *said),
            joined((rest[0] == rest[1], 2), *said),
        ]
        return np.array([view.ravel() for view in views])

    return gathered(pairs, draws)
