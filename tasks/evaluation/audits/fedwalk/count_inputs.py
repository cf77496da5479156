"""Lists whose neighbour-group counts an audit reports: from empty ones to hubs, with cells from 0 to some hundreds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.reports.fedwalk.neighbour_counts import BUCKETS, degree_buckets
from tasks.seeds import generator

VERTICES, IN_THE_LAST = 1024, 600
PUBLISHED = np.array([-3, 3, 4, 13, 16, 40, 90])
"""Published degrees of the vertices outside the last bucket, one of each bucket."""
DENSITIES = np.array([0.0, 0.0, 0.005, 0.05, 0.5, 1.0])
"""Of the lists, in turn: most cells are 0, or a few, or dozens, or hundreds."""


@dataclass(frozen=True, eq=False)
class CountInputs:
    """Every second device's list gains a neighbour, or has one replaced.

    Attributes:
        lists: the lists under the first and under the second input.
        published, bins: of every vertex; its cell is in the bucket of its published degree and in its bin.
        exact: int64 (2, V, cells), the true tables.
        gains, loses: int64 (V/2,), the cells of devices 0, 2, ... that gain and, for a replaced neighbour, lose one.
    """

    lists: tuple[NeighbourLists, NeighbourLists]
    published: NDArray[np.int64]
    bins: NDArray[np.int32]
    exact: NDArray[np.int64]
    gains: NDArray[np.int64]
    loses: NDArray[np.int64]

    @property
    def cells(self) -> int:
        """Cells of a table."""
        return self.exact.shape[2]


@cache
def count_inputs(width: int, replaced: bool) -> CountInputs:
    """The same lists whenever they are asked for.

    Args:
        width: number of bins.
        replaced: whether the neighbour that is gained replaces another one, of another cell.
    """
    rng, vertices = generator(width), np.arange(VERTICES)
    published = np.where(vertices < IN_THE_LAST, 200, np.resize(PUBLISHED, VERTICES))
    bins = rng.permutation(vertices % width).astype(np.int32)
    cell = degree_buckets(published) * width + bins
    dense = rng.random((VERTICES, VERTICES)) < np.repeat(np.resize(DENSITIES, VERTICES // 2), 2)[:, None]
    subjects = vertices[::2]
    gained = rng.permutation(VERTICES)[: len(subjects)]
    lost = np.array([rng.choice(np.flatnonzero(cell != cell[vertex])) for vertex in gained])
    dense[subjects, gained] = False
    dense[subjects, lost] = replaced
    later = dense.copy()
    later[subjects, gained] = True
    later[subjects, lost] = False
    in_cell = (cell[:, None] == np.arange(BUCKETS * width)).astype(np.float32)
    exact = np.array([side.astype(np.float32) @ in_cell for side in (dense, later)]).astype(np.int64)
    return CountInputs((_lists(dense), _lists(later)), published, bins, exact, cell[gained], cell[lost])


def _lists(dense: NDArray[np.bool_]) -> NeighbourLists:
    rows, columns = np.nonzero(dense)
    return NeighbourLists(np.searchsorted(rows, np.arange(len(dense) + 1)), columns.astype(np.int32))
