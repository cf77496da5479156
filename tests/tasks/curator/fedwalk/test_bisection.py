from __future__ import annotations

import math

import numpy as np
import pytest

from tasks.broadcasts.tree import ClusterTree
from tasks.curator.fedwalk.bisection import balanced_children
from tasks.curator.fedwalk.ordered_matrices import OrderedMatrices
from tasks.seeds import generator


def points(values: np.ndarray) -> OrderedMatrices:
    """One-row matrices: the distance of two is half their gap."""
    count = len(values)
    rows = values.astype(np.float32).reshape(count, -1)
    return OrderedMatrices(rows, np.arange(count + 1), np.ones(count, dtype=np.int64))


@pytest.mark.parametrize("vertices", [2, 3, 7, 64, 100, 1000])
def test_no_leaf_is_deeper_than_the_binary_logarithm(vertices: int):
    values = generator(1).pareto(1.0, size=vertices)
    tree = ClusterTree("private", "balanced", balanced_children(points(values), generator(2)))
    assert tree.leaves == vertices
    assert tree.depth == math.ceil(math.log2(vertices))


def test_near_vertices_share_subtrees():
    """On a line every cut separates two intervals, but for the ties at a pivot's side."""
    values = generator(1).permutation(256).astype(float)
    tree = ClusterTree("private", "balanced", balanced_children(points(values), generator(2)))
    ordered = values[tree.layout.order]
    halves = [set(ordered[:128]), set(ordered[128:])]
    gap = abs(np.mean(list(halves[0])) - np.mean(list(halves[1])))
    neighbours = np.abs(np.diff(ordered)).mean()
    assert gap > 100
    assert neighbours < np.abs(np.diff(values)).mean() / 5


def test_the_seed_decides_and_equal_vertices_do_no_harm():
    values = generator(1).normal(size=50)
    first, again, other = (balanced_children(points(values), generator(seed)) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert ClusterTree("private", "balanced", balanced_children(points(np.zeros(33)), generator(1))).depth == 6
