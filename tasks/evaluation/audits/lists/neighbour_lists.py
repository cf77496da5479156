"""Audit of randomised response on neighbour lists, per bit of a list; ``relations`` has it per relation.

Rows of one report are independent users, so that a report of many users is many draws.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.client.randomized_response import flip_probability, randomise_neighbour_lists
from tasks.evaluation.audits.case import AuditCase, gathered
from tasks.evaluation.audits.lists.inputs import SCOUTS, Report, drawn, inputs
from tasks.evaluation.audits.lists.views import list_copies, list_views
from tasks.reports.edge import EdgeReport
from tasks.reports.edge_mode import EdgeMode
from tasks.reports.ledgers.ledger_line import LedgerLine

MODES: tuple[EdgeMode, ...] = ("directed", "directed-no-diagonal", "pair")
EPSILONS = ("0.5", "1", "2", "4", "8")
USERS = {"directed": 64, "directed-no-diagonal": 64, "pair": 128}
"""Half of the lists of a pair report are short: more users make enough long ones."""
MANY = 512
REPORTS_AT_ONCE = 256
LARGE_DRAWS = 30_000
DRAWS, DRAWS_AT_2 = 200_000, 700_000
"""At a budget of 2 chance makes copies, and a leak is looked for among them."""


def list_cases() -> list[AuditCase]:
    """Every mode at every budget, and one graph of many users and long lists for every mode."""
    few = [
        _case(mode, epsilon, USERS[mode], number % 2 == 1, DRAWS_AT_2 if epsilon == "2" else DRAWS)
        for mode in MODES
        for number, epsilon in enumerate(EPSILONS)
    ]
    return [*few, *(_case(mode, "0.5", MANY, mode == "directed", LARGE_DRAWS) for mode in MODES)]


def list_line(epsilon: str, mode: EdgeMode) -> LedgerLine:
    """The ledger line of a report."""
    return reported(epsilon, mode, csr_array((2, 2), dtype=np.int8), np.random.default_rng(0)).ledger


def _case(mode: EdgeMode, epsilon: str, users: int, odd: bool, draws: int = DRAWS) -> AuditCase:
    line, report = list_line(epsilon, mode), partial(reported, epsilon, mode)
    return AuditCase(
        line.mechanism,
        f"eps_a {epsilon}, {users} users",
        line.unit,
        float(line.epsilon),
        partial(list_outputs, report, mode, epsilon, users, odd),
        draws,
        copies=list_copies(inputs(mode, users, odd, report, 1), flip_probability(epsilon)),
    )


def reported(epsilon: str, mode: EdgeMode, graph: csr_array, rng: np.random.Generator) -> EdgeReport:
    """One report of the real mechanism."""
    return randomise_neighbour_lists(graph, epsilon, mode, rng, 1e3, True, dataset="audit")


def list_outputs(
    report: Report,
    mode: EdgeMode,
    epsilon: str,
    users: int,
    odd: bool,
    changed: bool,
    draws: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Lists that differ in one bit each, in all views of ``list_views``."""
    both = inputs(mode, users, odd, report, SCOUTS if users < MANY else 1)
    lists, flip = both.second if changed else both.first, flip_probability(epsilon)
    needed = -(-draws // len(both.subjects))
    at_once = min(needed, max(1, REPORTS_AT_ONCE * 64**2 // users**2))
    return gathered(lambda: list_views(both, lists, drawn(lists, mode, report, at_once, rng), flip), draws)
