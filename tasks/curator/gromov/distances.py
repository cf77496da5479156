"""Gromov-Wasserstein discrepancies between lists of distance matrices: the functions to call from a notebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.curator.gromov.blocks import SolvedPairs, pair_blocks, solve_block
from tasks.curator.gromov.packing import pack
from tasks.curator.gromov.validation import aligned
from tasks.errors import UserError

BLOCK = 65_536


@dataclass(frozen=True)
class GromovResult:
    """Discrepancies of every graph of the first list to every graph of the second."""

    values: np.ndarray  # (F, S) float64; symmetric with a zero diagonal when there was one list
    iterations: int  # conditional-gradient iterations over all pairs and starts
    clipped: int  # pairs whose value rounding had made negative; they read 0


def solve_pairs(
    matrices: Sequence[np.ndarray],
    pairs: np.ndarray,
    *,
    features: Sequence[np.ndarray] | None = None,
    alpha: float | None = None,
    starts: int = 1,
    seed: int = 0,
    threads: int | None = None,
) -> SolvedPairs:
    """Discrepancies of chosen pairs (P, 2) of graphs; arguments as in :func:`gromov_distances`.

    Raises:
        UserError: for unusable matrices, features, options or indices.
    """
    chosen = np.asarray(pairs)
    if chosen.ndim != 2 or chosen.shape[1] != 2 or not np.issubdtype(chosen.dtype, np.integer):
        raise UserError(f"pairs: {chosen.dtype} array of shape {chosen.shape}; give integers, two indices per row")
    if chosen.size and (chosen.min() < 0 or chosen.max() >= len(matrices)):
        raise UserError(f"pairs: indices run from {chosen.min()} to {chosen.max()}, there are {len(matrices)} graphs")
    check_features_and_alpha(features, alpha)
    return solve_block(
        pack(matrices, features),
        np.ascontiguousarray(chosen, np.int64),
        alpha=alpha,
        starts=starts,
        seed=seed,
        threads=threads,
    )


def gromov_distances(
    first: Sequence[np.ndarray],
    second: Sequence[np.ndarray] | None = None,
    *,
    first_features: Sequence[np.ndarray] | None = None,
    second_features: Sequence[np.ndarray] | None = None,
    alpha: float | None = None,
    starts: int = 1,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GromovResult:
    """Gromov-Wasserstein discrepancies (square loss, uniform weights) between two lists of graphs, or within one.

    The value is POT's ``gromov_wasserstein2``: the minimum of sum (C1_ik - C2_jl)^2 T_ij T_kl that conditional
    gradient finds, not its root. With features it is ``fused_gromov_wasserstein2`` with squared Euclidean costs.
    Where equal distances leave the linear step a choice (shortest paths, sign vectors), different solvers may
    reach different local minima; more ``starts`` lower the value.

    Args:
        first: symmetric matrices (n, n) of distances between the nodes of a graph; integers are cast to float64.
        second: another list; None compares the first with itself, solving each pair once.
        first_features: node features (n, d), one matrix per graph.
        second_features: the same for the second list.
        alpha: weight of the structure, 1 - alpha that of the features; needed with features.
        starts: the product coupling and ``starts - 1`` random vertices of the coupling polytope.
        seed: of the random vertices; the result does not depend on the number of threads.
        threads: None for one per core.
        progress: called with the numbers of pairs done and of all pairs.

    Raises:
        UserError: for a matrix that is empty, not square, not symmetric or has NaN, and for unusable options.
    """
    check_features_and_alpha(first_features, alpha)
    if second is None and second_features is not None:
        raise UserError("second_features belong to a second list of graphs: give it, or drop them")
    if second is not None and (first_features is None) != (second_features is None):
        raise UserError("features are given for one of the two lists only: give both or neither")
    everything = [*first, *(() if second is None else second)]
    features = None
    if first_features is not None:
        features = [*aligned(first_features, first), *(() if second is None else aligned(second_features, second))]
    packed = pack(everything, features)
    count = len(first)
    if second is None:
        pairs = np.concatenate([*pair_blocks(count, BLOCK), np.empty((0, 2), np.int64)])
    else:
        grid = np.indices((count, len(second)), dtype=np.int64).reshape(2, -1)
        pairs = np.ascontiguousarray((grid + np.array([[0], [count]])).T)
    done = 0

    def advance(finished: int) -> None:
        nonlocal done
        done += finished
        if progress is not None:
            progress(done, len(pairs))

    solved = solve_block(packed, pairs, alpha=alpha, starts=starts, seed=seed, threads=threads, progress=advance)
    if second is None:
        values = np.zeros((count, count))
        values[pairs[:, 0], pairs[:, 1]] = solved.values
        values[pairs[:, 1], pairs[:, 0]] = solved.values
    else:
        values = solved.values.reshape(count, len(second))
    return GromovResult(values, int(solved.iterations.sum()), solved.clipped)


def check_features_and_alpha(features: Sequence[np.ndarray] | None, alpha: float | None) -> None:
    """Features and their weight come together or not at all."""
    if features is not None and alpha is None:
        raise UserError("features need alpha, the weight of the structure: a number from 0 to 1")
    if features is None and alpha is not None:
        raise UserError("alpha weighs structure against features, but there are none: give features or drop alpha")
