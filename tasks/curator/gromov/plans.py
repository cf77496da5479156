"""The coupling of one pair, for looking at which node goes where."""

from __future__ import annotations

import numpy as np

from tasks.curator.gromov.blocks import check_alpha, pair_keys
from tasks.curator.gromov.packing import PackedGraphs
from tasks.curator.gromov.pair_solver import solve_pairs_compiled


def gromov_plan(
    packed: PackedGraphs, first: int, second: int, *, alpha: float | None = None, starts: int = 1, seed: int = 0
) -> tuple[float, np.ndarray]:
    """The value (not clipped) and the coupling (n, m) of two packed graphs, with uniform marginals 1/n and 1/m.

    Mass between merged nodes is spread evenly over the nodes they stand for. Arguments as in
    :func:`tasks.curator.gromov.blocks.solve_block`.
    """
    check_alpha(packed, alpha)
    arrays = packed.arrays
    if alpha is None:
        arrays = arrays._replace(features=arrays.features[:, :0].copy())
    pairs = np.array([[first, second]], np.int64)
    rows, columns = packed.groups[first], packed.groups[second]
    plan = np.empty((rows.max() + 1) * (columns.max() + 1))
    value = np.empty(1)
    iterations = np.empty(1, np.int64)
    weight = 1.0 if alpha is None else float(alpha)
    solve_pairs_compiled(arrays, pairs, pair_keys(pairs, seed), weight, starts, plan, value, iterations)
    merged = plan.reshape(rows.max() + 1, columns.max() + 1)
    spread = np.outer(np.bincount(rows)[rows], np.bincount(columns)[columns])
    return float(value[0]), merged[np.ix_(rows, columns)] / spread
