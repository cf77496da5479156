"""Transportation simplex that starts from the basis it is given.

Maximises the sum of ``gain_ij T_ij`` over couplings T. Conditional gradient calls it once per iteration with a slightly
different gain, so the previous basis is a few pivots away from the next optimum.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint32

from tasks.curator.gromov.spanning_tree import Node, Tree, pivot, refresh_potentials

RELATIVE_TOLERANCE = 1e-12


@njit(nogil=True)
def largest_magnitude(matrix: np.ndarray) -> float:
    """The largest absolute value."""
    largest = 0.0
    for value in matrix.ravel():
        largest = max(largest, abs(value))
    return largest


@njit(nogil=True)
def candidates(gains: np.ndarray, potentials: np.ndarray, level: float) -> int:
    """How many cells of a row beat ``level``: a count vectorises where a maximum with its place does not."""
    count = 0
    for j in range(len(gains)):
        count += gains[j] - potentials[j] > level
    return count


@njit(nogil=True)
def best_column(gains: np.ndarray, potentials: np.ndarray) -> int:
    """The cell of a row with the largest reduced gain."""
    best = gains[0] - potentials[0]
    column = 0
    for j in range(1, len(gains)):
        value = gains[j] - potentials[j]
        if value > best:
            best = value
            column = j
    return column


@njit(nogil=True)
def improve_basis(tree: Tree, root: Node, gain: np.ndarray) -> int:
    """Pivot until no cell improves by more than 1e-12 of the largest gain; return the number of pivots.

    Rows are priced in turn, and a row is priced again after each pivot until it has nothing left to offer.
    """
    n, m = gain.shape
    none = n + m
    tolerance = RELATIVE_TOLERANCE * largest_magnitude(gain)
    refresh_potentials(tree, root, gain)
    sinks = tree.potential[n:none]
    pivots = 0
    exhausted = 0
    i = 0
    while exhausted < n:
        gains = gain[i]
        if candidates(gains, sinks, tree.potential[i] + tolerance) > 0:
            j = best_column(gains, sinks)
            pivot(tree, uint32(i), uint32(n + j), gains[j] - sinks[j] - tree.potential[i], n, none)
            pivots += 1
            exhausted = 0
        else:
            exhausted += 1
            i += 1
            if i == n:
                i = 0
    return pivots
