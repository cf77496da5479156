"""Transportation simplex that starts from the basis it is given.

Maximises the sum of ``gain_ij T_ij`` over couplings T. Conditional gradient calls it once per iteration with a slightly
different gain, so the previous basis is a few pivots away from the next optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types, uint32
from numba.extending import intrinsic

from tasks.curator.gromov.spanning_tree import Node, pivot, refresh_potentials

ROWS_AT_ONCE = 4


@intrinsic
def larger(typing_context: Any, first: Any, second: Any) -> Any:
    """The larger of two numbers, neither of them NaN: LLVM vectorises a maximum over a row only if it is told so."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: tuple[ir.Value, ir.Value]) -> ir.Value:
        flags = ("nnan", "nsz")
        return builder.select(builder.fcmp_ordered(">", *arguments, flags=flags), *arguments, flags=flags)

    return types.float64(types.float64, types.float64), generate


@njit(nogil=True)
def largest_excess(gains: np.ndarray, potentials: np.ndarray) -> float:
    """The largest difference between a row's gains and the sinks' potentials."""
    largest = gains[0] - potentials[0]
    for j in range(1, len(gains)):
        largest = larger(gains[j] - potentials[j], largest)  # type: ignore[call-arg]
    return largest


@njit(nogil=True)
def place_of_excess(gains: np.ndarray, potentials: np.ndarray, excess: float) -> int:
    """The first column with this difference."""
    j = 0
    while gains[j] - potentials[j] != excess:
        j += 1
    return j


@njit(nogil=True)
def improve_basis(tree: np.ndarray, potential: np.ndarray, root: Node, gain: np.ndarray, tolerance: float) -> int:
    """Pivot until no cell improves by more than ``tolerance``; return the number of pivots.

    The best cell of a few rows enters, then the next few rows are priced: looking at more cells saves pivots, looking
    at all of them costs more than it saves.
    """
    n, m = gain.shape
    none = n + m
    refresh_potentials(tree, potential, root, gain)
    sinks = potential[n:none]
    pivots = 0
    exhausted = 0
    i = 0
    while exhausted < n:
        best = tolerance
        excess = 0.0
        row = -1
        for _ in range(ROWS_AT_ONCE):
            largest = largest_excess(gain[i], sinks)
            if largest - potential[i] > best:
                best = largest - potential[i]
                excess = largest
                row = i
            i = i + 1 if i + 1 < n else 0
        if row < 0:
            exhausted += ROWS_AT_ONCE
        else:
            column = place_of_excess(gain[row], sinks, excess)
            pivot(tree, potential, uint32(row), uint32(n + column), best, n, none)
            pivots += 1
            exhausted = 0
    return pivots
