"""Vertices of the coupling polytope as lists of cells, and products of such sparse matrices with dense ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tasks.curator.gromov.spanning_tree import Node


class Cells(NamedTuple):
    """A sparse n x m matrix with integer masses; only the first ``count`` entries returned beside it hold."""

    row: np.ndarray  # int64
    column: np.ndarray  # int64
    mass: np.ndarray  # float64, integral


@njit(nogil=True)
def empty_cells(size: int) -> Cells:
    """Room for ``size`` cells."""
    return Cells(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.float64))


@njit(nogil=True)
def read_vertex(tree: np.ndarray, root: Node, n: int, m: int, shift: int, cells: Cells) -> int:
    """List the positive cells of the vertex that ``tree`` stands for; return how many there are."""
    half = np.int64(1) << (shift - 1)
    count = 0
    for node in range(n + m):
        if node != root:
            mass = (tree[node].flow + half) >> shift
            if mass != 0:
                parent = tree[node].parent
                cells.row[count] = node if node < n else parent
                cells.column[count] = parent - n if node < n else node - n
                cells.mass[count] = mass
                count += 1
    return count


@njit(nogil=True)
def subtract(new: Cells, new_count: int, old: Cells, old_count: int, scratch: np.ndarray, cells: Cells) -> int:
    """List the non-zero cells of ``new - old``; ``scratch`` is an n x m array whose content is lost."""
    for k in range(old_count):
        scratch[old.row[k], old.column[k]] = 0.0
    for k in range(new_count):
        scratch[new.row[k], new.column[k]] = new.mass[k]
    for k in range(old_count):
        scratch[old.row[k], old.column[k]] -= old.mass[k]
    count = 0
    for source, length in ((old, old_count), (new, new_count)):
        for k in range(length):
            i = source.row[k]
            j = source.column[k]
            if scratch[i, j] != 0.0:
                cells.row[count] = i
                cells.column[count] = j
                cells.mass[count] = scratch[i, j]
                scratch[i, j] = 0.0
                count += 1
    return count


@njit(nogil=True)
def inner(matrix: np.ndarray, cells: Cells, count: int, unit: float) -> float:
    """Sum of the dense matrix times the cells, whose masses count in ``unit``."""
    total = 0.0
    for k in range(count):
        total += cells.mass[k] * matrix[cells.row[k], cells.column[k]]
    return total * unit


@njit(nogil=True, fastmath={"contract"})
def add_row(target: np.ndarray, source: np.ndarray, factor: float) -> None:
    """``target += factor * source``."""
    for j in range(len(target)):
        target[j] += factor * source[j]


@njit(nogil=True)
def number_used(used: np.ndarray, slot: np.ndarray) -> int:
    """Number the entries that occur in ``used`` from 1 on; ``slot`` holds the numbers, 0 where unused."""
    slot[:] = 0
    count = 0
    for k in range(len(used)):
        if slot[used[k]] == 0:
            count += 1
            slot[used[k]] = count
    return count


@njit(nogil=True)
def sandwich(
    left: np.ndarray, right: np.ndarray, cells: Cells, count: int, unit: float, room: np.ndarray, out: np.ndarray
) -> None:
    """``out = left S right`` for symmetric dense ``left`` (n x n), ``right`` (m x m) and the sparse S.

    Only the rows, or only the columns, of S that are in use take part in the dense product, whichever are fewer.
    """
    n, m = out.shape
    row_slot = np.empty(n, np.int64)
    column_slot = np.empty(m, np.int64)
    rows = number_used(cells.row[:count], row_slot)
    columns = number_used(cells.column[:count], column_slot)
    rank = min(rows, columns)
    first = room[: rank * n].reshape(rank, n)
    second = room[rank * n : rank * (n + m)].reshape(rank, m)
    if rows <= columns:
        second[:] = 0.0
        for k in range(count):
            add_row(second[row_slot[cells.row[k]] - 1], right[cells.column[k]], cells.mass[k] * unit)
        for i in range(n):
            if row_slot[i] > 0:
                first[row_slot[i] - 1] = left[i]
    else:
        first[:] = 0.0
        for k in range(count):
            add_row(first[column_slot[cells.column[k]] - 1], left[cells.row[k]], cells.mass[k] * unit)
        for j in range(m):
            if column_slot[j] > 0:
                second[column_slot[j] - 1] = right[j]
    np.dot(first.T, second, out)
