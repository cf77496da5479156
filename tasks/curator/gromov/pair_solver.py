"""The compiled loop over pairs of packed graphs: plain and fused, one or several starts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import njit, uint64

from tasks.curator.gromov.conditional_gradient import Side, empty_workspace, minimise
from tasks.curator.gromov.packing import PackedArrays


@njit(nogil=True)
def side(graph: int, packed: PackedArrays) -> Side:
    """Views of one graph's share of the packed arrays."""
    a = packed.starts[graph]
    b = packed.starts[graph + 1]
    k = b - a
    c = packed.matrix_starts[graph]
    return Side(
        packed.distances[c : c + k * k].reshape(k, k),
        packed.eccentricity[a:b],
        packed.order[a:b],
        packed.multiplicity[a:b],
        packed.nodes[graph],
        packed.energy[graph],
        packed.reach[graph],
    )


@njit(nogil=True)
def goes_first(first: Side, second: Side) -> bool:
    """An order of graphs that does not depend on the order of the arguments: the smaller one goes first."""
    k = len(first.order)
    if k != len(second.order):
        return k < len(second.order)
    if first.nodes != second.nodes:
        return first.nodes < second.nodes
    if first.energy != second.energy:
        return first.energy < second.energy
    for rank in range(k):
        a = first.eccentricity[first.order[rank]]
        b = second.eccentricity[second.order[rank]]
        if a != b:
            return a < b
    return True


@njit(nogil=True)
def squared_distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances between the rows of two matrices."""
    n = len(first)
    m = len(second)
    cost = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for d in range(first.shape[1]):
                cost[i, j] += (first[i, d] - second[j, d]) ** 2
    return cost


@njit(nogil=True)
def next_random(state: np.uint64) -> tuple[np.uint64, np.uint64]:
    """SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): the next state and its 64 random bits."""
    state = uint64(state + uint64(0x9E3779B97F4A7C15))
    bits = state
    bits = uint64((bits ^ (bits >> uint64(30))) * uint64(0xBF58476D1CE4E5B9))
    bits = uint64((bits ^ (bits >> uint64(27))) * uint64(0x94D049BB133111EB))
    return state, bits ^ (bits >> uint64(31))


@njit(nogil=True)
def shuffled(order: np.ndarray, state: np.uint64) -> tuple[np.ndarray, np.uint64]:
    """A random permutation of ``order``, and the next state."""
    order = order.copy()
    for last in range(len(order) - 1, 0, -1):
        state, bits = next_random(state)
        other = np.int64(bits % uint64(last + 1))
        order[last], order[other] = order[other], order[last]
    return order, state


@njit(nogil=True)
def solve_pair(
    one: Side,
    other: Side,
    one_features: np.ndarray,
    other_features: np.ndarray,
    alpha: float,
    starts: int,
    state: np.uint64,
    plan: np.ndarray,
) -> tuple[float, int]:
    """The smallest value over the starts (the product coupling, then random vertices) and the iterations of all.

    ``plan`` receives the coupling (merged nodes of one, of the other), flat; its size is 0 if that is not wanted.
    """
    swap = not goes_first(one, other)
    first = other if swap else one
    second = one if swap else other
    n = len(first.order)
    m = len(second.order)
    fused = one_features.size > 0
    if fused:
        cost = squared_distances(other_features if swap else one_features, one_features if swap else other_features)
    else:
        cost = np.empty((0, 0))
    workspace = empty_workspace(n, m, fused)
    best = np.empty((n, m)) if plan.size else np.empty((0, 0))
    value = np.inf
    iterations = 0
    order1, order2 = first.order, second.order
    for start in range(starts):
        if start > 0:
            order1, state = shuffled(order1, state)
            order2, state = shuffled(order2, state)
        candidate = np.empty_like(best)
        reached, more = minimise(first, second, cost, alpha, order1, order2, start == 0, workspace, candidate)
        iterations += more
        if reached < value or start == 0:
            value = reached
            best = candidate
    if plan.size:
        plan[:] = best.T.copy().ravel() if swap else best.ravel()
    return value, iterations


def _digest_of_sources() -> str:
    """Numba's cache on disk looks at one function only; with this in its key a change to any file here counts."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _compiled(sources: str) -> Callable[..., None]:
    @njit(nogil=True, cache=True)
    def solve_pairs_compiled(
        packed: PackedArrays,
        pairs: np.ndarray,
        keys: np.ndarray,
        alpha: float,
        starts: int,
        plan: np.ndarray,
        values: np.ndarray,
        iterations: np.ndarray,
    ) -> None:
        if len(sources) == 0:
            return
        for k in range(len(pairs)):
            i, j = pairs[k]
            one = packed.features[packed.starts[i] : packed.starts[i + 1]]
            other = packed.features[packed.starts[j] : packed.starts[j + 1]]
            value, count = solve_pair(side(i, packed), side(j, packed), one, other, alpha, starts, keys[k], plan)
            values[k] = value
            iterations[k] = count

    return solve_pairs_compiled


solve_pairs_compiled = _compiled(_digest_of_sources())
