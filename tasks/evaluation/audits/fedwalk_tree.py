"""Audit of what FedWalk's devices send for the tree: noisy degrees and neighbour-group counts, alone and together.

The devices of one report draw independently, each with its own copy of the one list that is audited.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tasks.client.fedwalk.degree import release_degrees
from tasks.client.fedwalk.neighbour_counts import release_neighbour_counts
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.evaluation.audits.case import AuditCase
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.fedwalk.neighbour_counts import NeighbourCountReport, degree_buckets
from tasks.reports.ledgers.composition import compose

BINS = 2
PUBLISHED = np.array([200, 3], dtype=np.int64)
"""Published degrees of vertices 0 and 1, which lie in bins 0 and 1: the two cells that a list may fall into."""
LOWEST, HIGHEST = -1, 2
"""Counts of 0 and 1 are told apart, and those beyond: their likelihood ratio depends on no more."""


def tree_cases() -> list[AuditCase]:
    """Degrees, counts at both sensitivities, and both reports of one list and of one relation."""
    budgets = ("0.5", "1", "2")
    return [
        *(_degree_case(epsilon) for epsilon in budgets),
        *(_count_case(epsilon, sensitivity) for sensitivity in (1, 2) for epsilon in budgets),
        _joint_case("1", "1"),
        _relation_case("0.5", "0.5"),
    ]


def same_lists(neighbours: list[int], devices: int) -> NeighbourLists:
    """Every device with the same neighbours."""
    indptr = np.arange(devices + 1, dtype=np.int64) * len(neighbours)
    return NeighbourLists(indptr, np.tile(np.array(neighbours, dtype=np.int32), devices))


def reported_degrees(lists: NeighbourLists, epsilon: str, rng: np.random.Generator) -> DegreeReport:
    """One report of the real mechanism."""
    return release_degrees(lists, epsilon, rng, dataset="audit", simulated=True)


def reported_counts(
    lists: NeighbourLists, published: NDArray[np.int64], epsilon: str, sensitivity: int, rng: np.random.Generator
) -> NeighbourCountReport:
    """One report of the real mechanism; vertex v lies in bin v mod ``BINS``."""
    bins = (np.arange(lists.nodes) % BINS).astype(np.int32)
    return release_neighbour_counts(
        lists, published, bins, epsilon, rng, dataset="audit", simulated=True, sensitivity=sensitivity
    )


def list_counts(
    neighbours: list[int], epsilon: str, sensitivity: int, devices: int, rng: np.random.Generator
) -> NDArray:
    """int64 (devices, 3): the cells of vertex 0 and of vertex 1, and one that no list falls into."""
    published = np.resize(PUBLISHED, max(devices, BINS))
    counts = reported_counts(same_lists(neighbours, len(published)), published, epsilon, sensitivity, rng).counts
    high, low = degree_buckets(PUBLISHED)
    return counts[:devices, [high, low, 0], [0, 1, 0]].astype(np.int64)


def coded(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of counts as one integer each."""
    width = HIGHEST - LOWEST + 1
    return (np.clip(columns, LOWEST, HIGHEST) - LOWEST) @ width ** np.arange(columns.shape[1])


def _degree_case(epsilon: str) -> AuditCase:
    line = reported_degrees(same_lists([], 2), epsilon, np.random.default_rng(0)).ledger
    sample = partial(_degrees, epsilon)
    return AuditCase(line.mechanism, f"eps_degree {epsilon}", line.unit, float(line.epsilon), sample)


def _count_case(epsilon: str, sensitivity: int) -> AuditCase:
    published = PUBLISHED.copy()
    line = reported_counts(same_lists([], 2), published, epsilon, sensitivity, np.random.default_rng(0)).ledger
    setting = f"eps_counts {epsilon}, sensitivity {sensitivity}"
    sample = partial(_counts, epsilon, sensitivity)
    return AuditCase(line.mechanism, setting, line.unit, float(line.epsilon), sample)


def _joint_case(eps_degree: str, eps_counts: str) -> AuditCase:
    return AuditCase(
        "noisy degree + neighbour-group counts",
        f"eps_degree {eps_degree} + eps_counts {eps_counts}",
        "neighbour list (one neighbour added or removed)",
        float(compose([eps_degree, eps_counts])),
        partial(_degrees_and_counts, eps_degree, eps_counts),
    )


def _relation_case(eps_degree: str, eps_counts: str) -> AuditCase:
    lists, rng = same_lists([], 2), np.random.default_rng(0)
    lines = [
        reported_degrees(lists, eps_degree, rng).ledger,
        reported_counts(lists, PUBLISHED, eps_counts, 1, rng).ledger,
    ]
    return AuditCase(
        "noisy degree + neighbour-group counts",
        f"eps_degree {eps_degree} + eps_counts {eps_counts}",
        "relation",
        float(compose(line.relation_epsilon or "inf" for line in lines)),
        partial(_relations, eps_degree, eps_counts),
    )


def _degrees(epsilon: str, changed: bool, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return reported_degrees(same_lists([0] * changed, draws), epsilon, rng).degrees


def _counts(epsilon: str, sensitivity: int, changed: bool, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sensitivity 1: with or without vertex 0; sensitivity 2: vertex 1 in place of vertex 0."""
    neighbours = [int(changed)] if sensitivity == 2 else [0] * changed
    return coded(list_counts(neighbours, epsilon, sensitivity, draws, rng))


def _degrees_and_counts(
    eps_degree: str, eps_counts: str, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    degrees = _degrees(eps_degree, changed, draws, rng)
    return coded(np.column_stack([degrees, list_counts([0] * changed, eps_counts, 1, draws, rng)]))


def _relations(
    eps_degree: str, eps_counts: str, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Devices paired off, related or not: both degrees, and what each counts in the cell of the other's degree."""
    devices, even = 2 * draws, np.arange(0, 2 * draws, 2)
    partners = (np.arange(devices) ^ 1).astype(np.int32)
    related = NeighbourLists(np.arange(devices + 1, dtype=np.int64), partners)
    lists = related if changed else same_lists([], devices)
    published = reported_degrees(lists, eps_degree, rng).degrees
    counts = reported_counts(lists, published, eps_counts, 1, rng).counts
    of_partner = counts[np.arange(devices), degree_buckets(published)[partners], partners % BINS]
    shown = np.column_stack([published, of_partner]) >= 1
    return shown[even] @ np.array([1, 2]) + shown[even + 1] @ np.array([4, 8])
