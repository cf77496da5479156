"""Audit of what FedWalk's devices send for the tree, degree and counts together: by one list, and of one relation."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.evaluation.audits.case import AuditCase, Copies, gathered, joined
from tasks.evaluation.audits.fedwalk.count_inputs import VERTICES, count_inputs
from tasks.evaluation.audits.fedwalk.counts import (
    BINS,
    count_cases,
    drawn_tables,
    exact_elsewhere,
    reported_counts,
    sides,
    table_copies,
)
from tasks.evaluation.audits.fedwalk.degree import degree_cases, lists_of_lengths, noise_zero, reported_degrees
from tasks.reports.fedwalk.neighbour_counts import BUCKETS, degree_buckets
from tasks.reports.ledgers.composition import compose

MECHANISM = "noisy degree + neighbour-group counts"
COMMON = np.array([0, 1, 3, 20])
"""Neighbours of either end of a relation that both have anyway, in turn."""


def tree_cases() -> list[AuditCase]:
    """Degrees, counts at both sensitivities, and both reports of one list and of one relation."""
    return [*degree_cases(), *count_cases(), _joint_case("1", "1"), _relation_case("0.5", "0.5")]


def _joint_case(eps_degree: str, eps_counts: str) -> AuditCase:
    table, degree = table_copies(float(eps_counts), 1, BUCKETS * BINS), noise_zero(float(eps_degree))
    return AuditCase(
        MECHANISM,
        f"eps_degree {eps_degree} + eps_counts {eps_counts}",
        "neighbour list (one neighbour added or removed)",
        float(compose([eps_degree, eps_counts])),
        partial(_degrees_and_counts, eps_degree, eps_counts),
        350_000,
        copies=Copies(table.own * degree, table.neighbour * degree * math.exp(-float(eps_degree))),
    )


def _relation_case(eps_degree: str, eps_counts: str) -> AuditCase:
    none, rng = lists_of_lengths(np.zeros(2, dtype=np.int64)), np.random.default_rng(0)
    bins = np.zeros(2, dtype=np.int32)
    lines = [
        reported_degrees(none, eps_degree, rng).ledger,
        reported_counts(none, np.zeros(2, dtype=np.int64), bins, eps_counts, 1, rng).ledger,
    ]
    return AuditCase(
        MECHANISM,
        f"eps_degree {eps_degree} + eps_counts {eps_counts}",
        "relation",
        float(compose(line.relation_epsilon or "inf" for line in lines)),
        partial(_relations, eps_degree, eps_counts),
        150_000,
    )


def _degrees_and_counts(
    eps_degree: str, eps_counts: str, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The lists of the counts' audit: the degree, and what there is of the table."""
    both = count_inputs(BINS, False)
    before = both.lists[0].degrees[::2]

    def views() -> NDArray[np.int64]:
        degree = reported_degrees(both.lists[int(changed)], eps_degree, rng).degrees[::2] - before
        tables = drawn_tables(both, eps_counts, 1, changed, rng)
        gain, _ = sides(both, tables)
        exact = exact_elsewhere(both, tables, changed)
        together = (gain + 1, 4), (degree + 1, 4)
        number = np.arange(VERTICES // 2), VERTICES // 2
        return np.array(
            [
                joined((gain >= 1, 2), (degree >= 1, 2)),
                joined(number, (gain >= 1, 2), (degree >= 1, 2)),
                joined((exact, both.cells), *together),
                joined((gain - degree + 6, 13), *together),
            ]
        )

    return gathered(views, draws)


def _relations(
    eps_degree: str, eps_counts: str, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Devices paired off, related or not: both degrees, and what each counts in the cell of the other's degree."""
    devices, even = 2 * draws, np.arange(0, 2 * draws, 2)
    kind = even // 2 % len(COMMON)
    lists = _paired(np.repeat(COMMON[kind], 2), changed)
    published = reported_degrees(lists, eps_degree, rng).degrees
    bins = (np.arange(devices) % BINS).astype(np.int32)
    counts = reported_counts(lists, published, bins, eps_counts, 1, rng).counts
    partners = np.arange(devices) ^ 1
    degree = published - np.repeat(COMMON[kind], 2)
    bucket = degree_buckets(published)
    # Public: what the neighbours that both have anyway add to that cell.
    common = np.array([_common_in(bucket, bins, length) for length in COMMON])
    own = counts[np.arange(devices), bucket[partners], bins[partners]]
    own = own - common[np.repeat(kind, 2), bucket[partners], bins[partners]]
    seen = [(side[start::2] >= 1, 2) for start in (0, 1) for side in (degree, own)]
    return np.array([joined(*seen), joined((kind, len(COMMON)), *seen)])


def _common_in(bucket: NDArray[np.int64], bins: NDArray[np.int32], length: int) -> NDArray[np.int64]:
    table = np.zeros((BUCKETS, BINS), dtype=np.int64)
    np.add.at(table, (bucket[:length], bins[:length]), 1)
    return table


def _paired(common: NDArray[np.int64], related: bool) -> NeighbourLists:
    """Every device with the first ``common`` vertices as neighbours and, if related, the device it is paired with."""
    devices = np.arange(len(common))
    base = lists_of_lengths(common)
    if not related:
        return base
    indices = np.insert(base.indices, base.indptr[1:], (devices ^ 1).astype(np.int32))
    return NeighbourLists(base.indptr + np.arange(len(base.indptr)), indices.astype(np.int32))
