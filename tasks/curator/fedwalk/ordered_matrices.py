"""Ordered matrices, one a vertex, from what the devices report: the objects that the tree's distances compare."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.epsilon import INFINITE, epsilon_value
from tasks.reports.fedwalk.neighbour_counts import NeighbourCountReport
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport

SKETCH_ROWS = 16
FLOOR_DEVIATIONS = 2.0


class OrderedMatrices(NamedTuple):
    """Row sequences of all vertices.

    Attributes:
        rows: float32 (total, k).
        indptr: int64 (V+1,): vertex v has ``rows[indptr[v] : indptr[v+1]]``, at least one row.
        lengths: int64 (V,): rows before any pooling; a distance is scaled and divided by them.
    """

    rows: NDArray[np.float32]
    indptr: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @property
    def vertices(self) -> int:
        """V."""
        return len(self.lengths)


def matrices_from_counts(report: NeighbourCountReport) -> OrderedMatrices:
    """The private tree's matrices: log1p of a vertex's counts by degree bucket, without rows at the noise floor.

    A row is at the floor when its sum does not exceed two standard deviations of the noise in it,
    sqrt(2 k) * sensitivity / epsilon each. A vertex that would lose all rows keeps the one with the largest sum.
    """
    vertices, _, bins = report.counts.shape
    deviation = 0.0
    if report.epsilon != INFINITE:
        deviation = math.sqrt(2 * bins) * report.sensitivity / epsilon_value(report.epsilon)
    sums = report.counts.sum(axis=2)
    significant = sums > FLOOR_DEVIATIONS * deviation
    significant[np.arange(vertices), sums.argmax(axis=1)] = True
    rows = np.log1p(np.maximum(report.counts[significant], 0)).astype(np.float32)
    lengths = significant.sum(axis=1).astype(np.int64)
    return OrderedMatrices(rows, _indptr(lengths), lengths)


def matrices_from_structural(report: StructuralMatrixReport) -> OrderedMatrices:
    """The paper's matrices as uploaded; a vertex without neighbours gets one row of zeros."""
    lengths = np.diff(report.indptr)
    bare = np.flatnonzero(lengths == 0)
    rows = np.insert(report.rows, report.indptr[bare], np.float32(0), axis=0)
    lengths = np.maximum(lengths, 1)
    return OrderedMatrices(rows, _indptr(lengths), lengths)


def sketched(matrices: OrderedMatrices, rows: int = SKETCH_ROWS) -> OrderedMatrices:
    """Matrices of at most ``rows`` rows, each the mean of a run of consecutive ones."""
    lengths = np.minimum(np.diff(matrices.indptr), rows)
    indptr = _indptr(lengths)
    return OrderedMatrices(_pooled(matrices.rows, matrices.indptr, indptr), indptr, matrices.lengths)


def _indptr(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])


@njit(nogil=True)
def _pooled(rows, old, new):  # type: ignore[no-untyped-def]
    pooled = np.zeros((new[-1], rows.shape[1]), dtype=np.float32)
    for vertex in range(len(new) - 1):
        long, short = old[vertex + 1] - old[vertex], new[vertex + 1] - new[vertex]
        for row in range(short):
            first, last = row * long // short, (row + 1) * long // short
            for column in range(rows.shape[1]):
                total = 0.0
                for position in range(old[vertex] + first, old[vertex] + last):
                    total += rows[position, column]
                pooled[new[vertex] + row, column] = total / (last - first)
    return pooled
