"""Blocks of pairs: the unit that is solved in threads and, by whoever keeps results, saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from numbers import Integral

import numpy as np
import scipy.linalg.blas
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from tasks.curator.gromov.packing import PackedGraphs
from tasks.curator.gromov.pair_solver import solve_pairs_compiled
from tasks.errors import UserError

CHUNKS_PER_THREAD = 32
CHUNKS_ALONE = 4
"""A single thread leaves nobody idle: enough for a progress bar."""
SMALLEST_CHUNK = 32
"""Of a few hundred pairs, large chunks would leave one thread idle; handing over costs less than solving one pair."""


@dataclass(frozen=True)
class SolvedPairs:
    """Objective values of a list of pairs, in its order."""

    values: np.ndarray  # (P,) float64, never negative
    iterations: np.ndarray  # (P,) int64, over all starts
    clipped: int  # values that rounding had made negative


def pair_blocks(count: int, size: int) -> Iterator[np.ndarray]:
    """All pairs i < j of ``count`` graphs in blocks of at most ``size``: (P, 2) int64 arrays, always the same."""
    first, second = np.triu_indices(count, k=1)
    pairs = np.stack([first, second], axis=1).astype(np.int64)
    for start in range(0, len(pairs), size):
        yield pairs[start : start + size]


def pair_keys(pairs: np.ndarray, seed: int) -> np.ndarray:
    """A 64-bit random state for every pair: a function of the seed and of the two graphs, whichever comes first."""
    state = np.full(len(pairs), seed % 2**64, np.uint64)
    with np.errstate(over="ignore"):
        for part in (pairs.min(axis=1), pairs.max(axis=1)):
            state = (state ^ part.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state ^= state >> np.uint64(31)
    return state


def available_threads(threads: int | None) -> int:
    """The number asked for, or one for every core this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(threads, Integral) or threads < 1:
        raise UserError(f"threads: {threads} is not a number of threads; use 1 or more")
    return threads


@cache
def blas_libraries() -> ThreadpoolController:
    """The loaded BLAS libraries: looked for once, as that takes milliseconds. Compiled code calls SciPy's."""
    scipy.linalg.blas.dgemm(1.0, np.eye(1), np.eye(1))
    return ThreadpoolController()


def solve_block(
    packed: PackedGraphs,
    pairs: np.ndarray,
    *,
    alpha: float | None = None,
    starts: int = 1,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> SolvedPairs:
    """Solve the given pairs (P, 2) of packed graphs. The result depends on neither ``threads`` nor the blocks.

    Args:
        packed: graphs from :func:`tasks.curator.gromov.packing.pack`.
        pairs: indices of the two graphs of each pair; their order does not matter.
        alpha: weight of the structure against the features; None leaves features out (plain Gromov-Wasserstein).
        starts: the product coupling and ``starts - 1`` random vertices; the smallest value counts.
        seed: of the random vertices.
        threads: None for one per core.
        progress: called in this thread with the number of pairs just finished.

    Raises:
        UserError: for options out of range.
    """
    if not isinstance(starts, Integral) or starts < 1:
        raise UserError(f"starts: {starts} is not a number of starting points; use 1 or more")
    check_alpha(packed, alpha)
    workers = available_threads(threads)
    arrays = packed.arrays
    if alpha is None:
        arrays = arrays._replace(features=arrays.features[:, :0].copy())
    keys = pair_keys(pairs, seed)
    values = np.empty(len(pairs))
    iterations = np.empty(len(pairs), np.int64)
    weight = 1.0 if alpha is None else float(alpha)
    no_plan = np.empty(0)
    chunks = workers * CHUNKS_PER_THREAD if workers > 1 else CHUNKS_ALONE
    chunk = max(SMALLEST_CHUNK, -(-len(pairs) // chunks))

    def solve(start: int) -> int:
        part = slice(start, start + chunk)
        solve_pairs_compiled(arrays, pairs[part], keys[part], weight, starts, no_plan, values[part], iterations[part])
        return len(values[part])

    with blas_libraries().limit(limits=1, user_api="blas"), ThreadPoolExecutor(workers) as pool:
        for done in pool.map(solve, range(0, len(pairs), chunk)):
            if progress is not None:
                progress(done)
    return SolvedPairs(np.maximum(values, 0.0), iterations, int(np.sum(values < 0.0)))


def check_alpha(packed: PackedGraphs, alpha: float | None) -> None:
    """Refuse a trade-off outside [0, 1] or without features."""
    if alpha is None:
        return
    if not 0.0 <= alpha <= 1.0:
        raise UserError(f"alpha: {alpha} is not a trade-off; use a number from 0 (features) to 1 (structure)")
    if packed.arrays.features.shape[1] == 0:
        raise UserError("alpha weighs structure against features, but there are none: give features or drop alpha")
