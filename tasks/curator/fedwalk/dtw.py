"""Dynamic time warping between ordered matrices, compiled; exact, and approximate on sketches.

DTW aligns two row sequences monotonically and sums the Euclidean distances of aligned rows (Sakoe and Chiba 1978).
The sum is divided by m + n, a bound of the path's length. Between sketches of matrices with m and n rows the sum is
first multiplied by max(m, n) / rows of the longer sketch: a path is about that much longer between the originals.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.curator.fedwalk.ordered_matrices import OrderedMatrices


@njit(nogil=True)
def distance(matrices: OrderedMatrices, left: int, right: int, work: NDArray[np.float64]) -> float:
    """Normalised DTW distance of two vertices.

    Args:
        matrices: all ordered matrices.
        left, right: vertices.
        work: float64 workspace, one longer than the rows of ``right``; overwritten.
    """
    rows = matrices.rows
    first, last = matrices.indptr[left], matrices.indptr[left + 1]
    start, stop = matrices.indptr[right], matrices.indptr[right + 1]
    count = stop - start
    work[0] = 0.0
    work[1 : count + 1] = np.inf
    for row in range(first, last):
        diagonal = work[0]
        work[0] = np.inf
        for position in range(count):
            total = 0.0
            for column in range(rows.shape[1]):
                gap = rows[row, column] - rows[start + position, column]
                total += gap * gap
            above = work[position + 1]
            best = min(diagonal, above, work[position])
            work[position + 1] = best + np.sqrt(total)
            diagonal = above
    longest = max(last - first, count)
    m, n = matrices.lengths[left], matrices.lengths[right]
    return work[count] * (max(m, n) / longest) / (m + n)


def workspace(matrices: OrderedMatrices) -> NDArray[np.float64]:
    """The ``work`` array that fits every pair."""
    return np.empty(int(np.diff(matrices.indptr).max()) + 1)


def condensed_distances(matrices: OrderedMatrices, *, threads: int = 1) -> NDArray[np.float64]:
    """All pairs in SciPy's condensed order, float64 (V(V-1)/2,)."""
    vertices = matrices.vertices
    distances = np.empty(vertices * (vertices - 1) // 2)

    def run(first: int) -> None:
        _rows_of_pairs(matrices, first, threads, distances, workspace(matrices))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, range(threads)))
    return distances


@njit(nogil=True)
def _rows_of_pairs(matrices, first, step, distances, work):  # type: ignore[no-untyped-def]
    vertices = len(matrices.lengths)
    for left in range(first, vertices, step):
        offset = left * vertices - left * (left + 1) // 2 - left - 1
        for right in range(left + 1, vertices):
            distances[offset + right] = distance(matrices, left, right, work)
