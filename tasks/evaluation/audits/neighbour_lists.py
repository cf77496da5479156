"""Audit of randomised response on neighbour lists, per bit of a list and per relation.

Rows of one report are independent users, so that a report of many users is many draws. An output is the bit that
differs, two bits that do not, and the parity of the whole row: a mechanism that lets one bit show in others is seen.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.evaluation.audits.case import AuditCase, gathered
from tasks.reports.edge import EdgeReport
from tasks.reports.edge_mode import EdgeMode

USERS = 256
MODES: tuple[EdgeMode, ...] = ("directed", "directed-no-diagonal", "pair")


def list_cases() -> list[AuditCase]:
    """Every mode at every budget, and relations that both ends report."""
    cases = [_list_case(mode, epsilon) for mode in MODES for epsilon in ("0.5", "1", "2", "4", "8")]
    return cases + [_relation_case(mode, epsilon) for mode in MODES[:2] for epsilon in ("0.5", "1", "2")]


def _list_case(mode: EdgeMode, epsilon: str) -> AuditCase:
    line = reported(stars(False), epsilon, mode, np.random.default_rng(0)).ledger
    return AuditCase(line.mechanism, f"eps_a {epsilon}", line.unit, float(line.epsilon), partial(bits, epsilon, mode))


def _relation_case(mode: EdgeMode, epsilon: str) -> AuditCase:
    line = reported(stars(False), epsilon, mode, np.random.default_rng(0)).ledger
    claim = float(line.relation_epsilon or "nan")
    return AuditCase(line.mechanism, f"eps_a {epsilon}", "relation", claim, partial(_relations, epsilon, mode))


def stars(changed: bool) -> csr_array:
    """A path over all users but the last; ``changed`` connects everyone to the last: one bit more in every list."""
    dense = np.zeros((USERS, USERS), dtype=np.int8)
    path = np.arange(USERS - 2)
    dense[path, path + 1] = dense[path + 1, path] = 1
    dense[-1, :-1] = dense[:-1, -1] = changed
    return csr_array(dense)


def reported(adjacency: csr_array, epsilon: str, mode: EdgeMode, rng: np.random.Generator) -> EdgeReport:
    """One report of the real mechanism."""
    return randomise_neighbour_lists(adjacency, epsilon, mode, rng, 1e3, True, dataset="audit")


def dense_rows(report: EdgeReport) -> NDArray[np.int64]:
    """The reported lists as (N, N) bits, without mirroring."""
    shape = (report.nodes, report.nodes)
    ones = np.ones(len(report.indices), dtype=np.int64)
    return csr_array((ones, report.indices, report.indptr), shape=shape).toarray()


def summarised(lists: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of all users but the last."""
    rows = lists[:-1]
    return rows[:, -1] + 2 * rows[:, -2] + 4 * rows[:, 0] + 8 * (rows.sum(axis=1) % 2)


def bits(epsilon: str, mode: EdgeMode, changed: bool, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Lists with or without one neighbour."""
    graph = stars(changed)
    return gathered(lambda: summarised(dense_rows(reported(graph, epsilon, mode, rng))), draws)


def _relations(epsilon: str, mode: EdgeMode, changed: bool, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """What both ends say of their relation; users are paired off."""
    even = np.arange(0, USERS, 2)
    dense = np.zeros((USERS, USERS), dtype=np.int8)
    dense[even, even + 1] = dense[even + 1, even] = changed
    graph = csr_array(dense)

    def pairs() -> NDArray[np.int64]:
        lists = dense_rows(reported(graph, epsilon, mode, rng))
        return lists[even, even + 1] + 2 * lists[even + 1, even]

    return gathered(pairs, draws)
