"""A small uneven tree and graph, and the encoder's law written out as its definition says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.neighbour_lists import NeighbourLists, neighbour_lists


@pytest.fixture
def uneven_tree() -> ClusterTree:
    """Ten leaves at depths 2 to 5."""
    children = [(0, 1), (10, 2), (11, 3), (4, 5), (6, 7), (13, 14), (8, 9), (12, 15), (17, 16)]
    return ClusterTree("random", "balanced", np.array(children, dtype=np.int32))


@pytest.fixture
def small_lists() -> NeighbourLists:
    """Ten vertices: a hub, a triangle, a leaf and an isolated vertex (9)."""
    pairs = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (3, 4), (5, 6), (6, 7), (7, 8), (5, 8)]
    dense = np.zeros((10, 10), dtype=np.int8)
    for head, tail in pairs:
        dense[head, tail] = dense[tail, head] = 1
    return neighbour_lists(csr_array(dense), dataset="x")


@pytest.fixture
def levels() -> Callable[[ClusterTree], np.ndarray]:
    """rho of all pairs, from sets of ancestors."""

    def rho(tree: ClusterTree) -> np.ndarray:
        parent = {int(c): tree.leaves + row for row, pair in enumerate(tree.children) for c in pair}
        paths = []
        for leaf in range(tree.leaves):
            path = [leaf]
            while path[-1] in parent:
                path.append(parent[path[-1]])
            paths.append(path[::-1])
        deepest = max(len(path) - 1 for path in paths)
        table = np.zeros((tree.leaves, tree.leaves))
        for v, left in enumerate(paths):
            for w, right in enumerate(paths):
                if v != w:
                    shared = sum(1 for a, b in zip(left, right, strict=False) if a == b)
                    table[v, w] = deepest - (shared - 1)
        return table

    return rho


@pytest.fixture
def exact_law(levels: Callable[[ClusterTree], np.ndarray]) -> Callable[[ClusterTree, float], np.ndarray]:
    """Q(w | v) of all pairs, (V, V)."""

    def law(tree: ClusterTree, epsilon: float) -> np.ndarray:
        weights = np.exp(-epsilon * levels(tree))
        return weights / weights.sum(axis=1, keepdims=True)

    return law
