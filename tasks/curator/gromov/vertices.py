"""Vertices of the coupling polytope as lists of cells, and products of such sparse matrices with dense ones."""

from __future__ import annotations

import numpy as np
from numba import njit

from tasks.curator.gromov.spanning_tree import Node

CELL = np.dtype([("row", np.uint32), ("column", np.uint32), ("mass", np.float64)])
"""One entry of a sparse matrix; masses are whole numbers of a unit. Of an array of cells the first ``count`` hold."""


@njit(nogil=True)
def read_vertex(tree: np.ndarray, root: Node, n: int, m: int, shift: int, cells: np.ndarray) -> int:
    """List the positive cells of the vertex that ``tree`` stands for; return how many there are."""
    half = np.int64(1) << (shift - 1)
    count = 0
    for node in range(n + m):
        if node != root:
            mass = (tree[node].flow + half) >> shift
            if mass != 0:
                parent = tree[node].parent
                cells[count].row = node if node < n else parent
                cells[count].column = parent - n if node < n else node - n
                cells[count].mass = mass
                count += 1
    return count


@njit(nogil=True)
def subtract(
    new: np.ndarray, new_count: int, old: np.ndarray, old_count: int, scratch: np.ndarray, cells: np.ndarray
) -> int:
    """List the non-zero cells of ``new - old``; ``scratch`` is an n x m array whose content is lost."""
    for k in range(old_count):
        scratch[old[k].row, old[k].column] = 0.0
    for k in range(new_count):
        scratch[new[k].row, new[k].column] = new[k].mass
    for k in range(old_count):
        scratch[old[k].row, old[k].column] -= old[k].mass
    count = 0
    for source, length in ((old, old_count), (new, new_count)):
        for k in range(length):
            i = source[k].row
            j = source[k].column
            if scratch[i, j] != 0.0:
                cells[count].row = i
                cells[count].column = j
                cells[count].mass = scratch[i, j]
                scratch[i, j] = 0.0
                count += 1
    return count


@njit(nogil=True)
def inner(matrix: np.ndarray, cells: np.ndarray, count: int, unit: float) -> float:
    """Sum of the dense matrix times the cells, whose masses count in ``unit``."""
    total = 0.0
    for k in range(count):
        total += cells[k].mass * matrix[cells[k].row, cells[k].column]
    return total * unit


@njit(nogil=True, fastmath={"contract"})
def add_row(target: np.ndarray, source: np.ndarray, factor: float) -> None:
    """``target += factor * source``."""
    for j in range(len(target)):
        target[j] += factor * source[j]


@njit(nogil=True)
def copy_row(target: np.ndarray, source: np.ndarray) -> None:
    """``target[:] = source``, without the checks of a slice."""
    for j in range(len(target)):
        target[j] = source[j]


@njit(nogil=True)
def number_used(cells: np.ndarray, count: int, n: int, slot: np.ndarray) -> tuple[int, int]:
    """Number the rows in use from 1 on, and the columns; ``slot`` (n + m) holds the numbers, 0 where unused."""
    slot[:] = 0
    rows = 0
    columns = 0
    for k in range(count):
        if slot[cells[k].row] == 0:
            rows += 1
            slot[cells[k].row] = rows
        if slot[n + cells[k].column] == 0:
            columns += 1
            slot[n + cells[k].column] = columns
    return rows, columns


@njit(nogil=True)
def sandwich(
    left: np.ndarray,
    right: np.ndarray,
    cells: np.ndarray,
    count: int,
    unit: float,
    slot: np.ndarray,
    factors: np.ndarray,
    out: np.ndarray,
) -> None:
    """``out = left S right`` for symmetric dense ``left`` (n x n), ``right`` (m x m) and the sparse S.

    Only the rows, or only the columns, of S that are in use take part in the dense product, whichever are fewer.
    ``slot`` (n + m) and ``factors`` (flat, min(n, m) (n + m)) are workspace to work in.
    """
    n, m = out.shape
    rows, columns = number_used(cells, count, n, slot)
    rank = min(rows, columns)
    first = factors[: rank * n].reshape(rank, n)
    second = factors[rank * n : rank * (n + m)].reshape(rank, m)
    if rows <= columns:
        factors[rank * n : rank * (n + m)] = 0.0
        for k in range(count):
            add_row(second[slot[cells[k].row] - 1], right[cells[k].column], cells[k].mass * unit)
        for i in range(n):
            if slot[i] > 0:
                copy_row(first[slot[i] - 1], left[i])
    else:
        factors[: rank * n] = 0.0
        for k in range(count):
            add_row(first[slot[n + cells[k].column] - 1], left[cells[k].row], cells[k].mass * unit)
        for j in range(m):
            if slot[n + j] > 0:
                copy_row(second[slot[n + j] - 1], right[j])
    np.dot(first.T, second, out)
