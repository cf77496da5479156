"""Blocks of pairs cover every pair once and can be solved apart."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tasks.curator.gromov.blocks import pair_blocks, pair_keys, solve_block
from tasks.curator.gromov.distances import gromov_distances
from tasks.curator.gromov.packing import pack


@pytest.mark.parametrize(("count", "size"), [(1, 4), (2, 1), (7, 5), (7, 21), (7, 100)])
def test_blocks_hold_every_pair_once(count: int, size: int) -> None:
    blocks = list(pair_blocks(count, size))
    assert all(len(block) <= size for block in blocks)
    pairs = [tuple(pair) for block in blocks for pair in block]
    assert pairs == [(i, j) for i in range(count) for j in range(i + 1, count)]


def test_blocks_solved_apart_give_the_same_bits() -> None:
    rng = np.random.default_rng(1)
    points = [rng.integers(0, 4, (size, 2)) for size in rng.integers(2, 12, 9)]
    matrices = [cdist(x, x) for x in points]
    packed = pack(matrices)
    whole = gromov_distances(matrices, starts=2, seed=3, threads=2).values
    for block in reversed(list(pair_blocks(9, 5))):
        solved = solve_block(packed, block, starts=2, seed=3, threads=1)
        np.testing.assert_array_equal(solved.values, whole[block[:, 0], block[:, 1]])


def test_negatives_from_rounding_are_clipped_and_counted() -> None:
    rng = np.random.default_rng(2)
    matrices = []
    for _ in range(30):
        points = rng.normal(size=(8, 3))
        order = rng.permutation(8)
        matrices += [cdist(points, points), cdist(points[order], points[order])]
    pairs = np.arange(60).reshape(30, 2)
    solved = solve_block(pack(matrices), pairs, threads=1)
    assert (solved.values >= 0).all() and solved.values.max() < 1e-12
    assert 0 < solved.clipped < 30


def test_keys_depend_on_the_seed_and_the_unordered_pair() -> None:
    pairs = np.stack(np.triu_indices(200, 1), 1)
    keys = pair_keys(pairs, 7)
    assert len(np.unique(keys)) == len(keys)
    np.testing.assert_array_equal(keys, pair_keys(pairs[:, ::-1], 7))
    assert not (keys == pair_keys(pairs, 8)).any()
