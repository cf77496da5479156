"""Neighbour lists that an audit reports: lists of many kinds, each of which may differ in one bit of many kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.reports.edge import EdgeReport
from tasks.reports.edge_mode import EdgeMode
from tasks.seeds import generator

Report = Callable[[csr_array, np.random.Generator], EdgeReport]
Kind = Callable[[int, NDArray[np.int64]], int]
"""Picks the bit that differs: from the user and the columns that it reports."""
SCOUTS = 256
"""Reports that are drawn, and counted nowhere, to find the bit that is flipped least and bits that flip together."""
ODD = 5.0
"""Standard deviations from which on a bit's share of flips is taken for odd."""
DENSITIES = (0.0, 1 / 512, 5 / 64, 0.5, 1.0, 0.9)
"""Of the lists, in turn: nobody, one or none, a few, half, everybody, nearly everybody."""


@dataclass(frozen=True, eq=False)
class ListInputs:
    """Two graphs; every second user's list, a subject's, differs in one bit.

    Attributes:
        first, second: bool (N, N), the graphs.
        reported: bool (N, N), which bits the mode reports.
        subjects, places: int64 (S,): list ``subjects[i]`` differs in column ``places[i]``.
        twins: int64 (S,): position, among all N*N bits, of the bit that flips together with the one that differs.
        turned: bool (S,): whether the twin flips when the other does not.
    """

    first: NDArray[np.bool_]
    second: NDArray[np.bool_]
    reported: NDArray[np.bool_]
    subjects: NDArray[np.int64]
    places: NDArray[np.int64]
    twins: NDArray[np.int64]
    turned: NDArray[np.bool_]


def reported_bits_of(mode: EdgeMode, nodes: int) -> NDArray[np.bool_]:
    """bool (N, N): the bits that users report."""
    everything = np.ones((nodes, nodes), dtype=bool)
    if mode == "pair":
        return np.triu(everything, 1)
    return everything ^ np.eye(nodes, dtype=bool) if mode == "directed-no-diagonal" else everything


def lists_of_all_kinds(mode: EdgeMode, nodes: int) -> NDArray[np.bool_]:
    """bool (N, N): one kind after another; users 0 and 1 have the first kind, so that all kinds have both parities."""
    density = np.resize(np.repeat(DENSITIES, 2), nodes)
    return (generator(nodes).random((nodes, nodes)) < density[:, None]) & reported_bits_of(mode, nodes)


def as_graph(lists: NDArray[np.bool_], mode: EdgeMode) -> csr_array:
    """The matrix that the mechanism takes: symmetric where each pair is reported once."""
    both = lists | lists.T if mode == "pair" else lists
    return csr_array(both.astype(np.int8))


def dense(report: EdgeReport) -> NDArray[np.bool_]:
    """The reported lists as bool (N, N), without mirroring."""
    bits = np.zeros(report.nodes * report.nodes, dtype=bool)
    rows = np.repeat(np.arange(report.nodes, dtype=np.int64), np.diff(report.indptr))
    bits[rows * report.nodes + report.indices] = True
    return bits.reshape(report.nodes, report.nodes)


def drawn(lists: NDArray[np.bool_], mode: EdgeMode, report: Report, reports: int, rng: np.random.Generator) -> NDArray:
    """bool (reports, N, N): independent reports of one graph."""
    graph = as_graph(lists, mode)
    return np.array([dense(report(graph, rng)) for _ in range(reports)])


@lru_cache(maxsize=1)
def inputs(mode: EdgeMode, nodes: int, odd: bool, report: Report, scouts: int = SCOUTS) -> ListInputs:
    """The two graphs of a case; the mechanism is run to find what to look at.

    Args:
        mode: which bits are reported.
        nodes: N, even.
        odd: whether the subjects are the users with odd numbers.
        report: the mechanism.
        scouts: reports that are drawn for the search; the same ones whenever it is made. 1 for no search.
    """
    lists, reported = lists_of_all_kinds(mode, nodes), reported_bits_of(mode, nodes)
    subjects = np.arange(int(odd), nodes, 2)
    subjects = subjects[reported[subjects].any(axis=1)]
    noise = (drawn(lists, mode, report, scouts, generator(scouts)) ^ lists).astype(np.float32)
    rate = noise.mean(axis=0)
    typical = float(np.median(rate[reported]))
    oddness = np.abs(rate - typical) / np.sqrt(typical * (1 - typical) / scouts + 1e-9)
    columns = [np.flatnonzero(reported[user]) for user in subjects]
    # The number of kinds of bits and the twelve kinds of lists, two users each, would march in step without the 5.
    places = np.array(
        [_place(KINDS[i % 5 % 4], oddness[u, c], u, c) for i, (u, c) in enumerate(zip(subjects, columns, strict=True))]
    )
    second = lists.copy()
    second[subjects, places] ^= True
    twins, turned = (subjects ^ 1) * nodes + places, np.zeros(len(subjects), dtype=bool)
    if scouts > 1:
        found, against = _twins(noise.reshape(scouts, -1), subjects * nodes + places)
        # Every bit is the twin of one subject alone, or its draws would not be independent.
        once = np.isin(np.arange(len(found)), np.unique(found, return_index=True)[1])
        twins, turned = np.where(once, found, twins), against & once
    return ListInputs(lists, second, reported, subjects, places, twins, turned)


def _first(user: int, columns: NDArray[np.int64]) -> int:
    return int(columns[0])


def _last(user: int, columns: NDArray[np.int64]) -> int:
    return int(columns[-1])


def _next_to_diagonal(user: int, columns: NDArray[np.int64]) -> int:
    return int(columns[min(int(np.searchsorted(columns, user)), len(columns) - 1)])


def _middle(user: int, columns: NDArray[np.int64]) -> int:
    return int(columns[len(columns) // 2])


KINDS: tuple[Kind, ...] = (_first, _last, _next_to_diagonal, _middle)


def _place(kind: Kind, oddness: NDArray[np.float32], user: int, columns: NDArray[np.int64]) -> int:
    """The bit that is flipped oddly often or seldom, where there is one; else the kind's."""
    oddest = int(np.argmax(oddness))
    return int(columns[oddest]) if oddness[oddest] > ODD else kind(user, columns)


def _twins(noise: NDArray[np.float32], bits: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each of the bits, the other one whose flips are most correlated with its own, and whether negatively."""
    centred = noise - noise.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0)) + 1e-9
    centred /= spread
    correlation = centred[:, bits].T @ centred
    correlation[np.arange(len(bits)), bits] = 0.0
    twins = np.abs(correlation).argmax(axis=1)
    return twins, correlation[np.arange(len(bits)), twins] < 0
