"""Packing: twins become one node with their common weight."""

import numpy as np
from scipy.spatial.distance import cdist

from tasks.curator.gromov.packing import pack


def test_twins_are_merged_and_their_weights_kept() -> None:
    points = np.array([[0.0], [1.0], [0.0], [5.0], [1.0], [0.0]])
    packed = pack([cdist(points, points), np.zeros((3, 3))])
    arrays = packed.arrays
    assert arrays.nodes.tolist() == [6, 3]
    assert np.diff(arrays.starts).tolist() == [3, 1]
    assert sorted(arrays.multiplicity[:3].tolist()) == [1, 2, 3]
    assert len({packed.groups[0][k] for k in (0, 2, 5)}) == 1
    np.testing.assert_allclose(arrays.energy, [np.mean(cdist(points, points) ** 2), 0.0])


def test_nodes_that_differ_in_their_features_stay_apart() -> None:
    packed = pack([np.zeros((4, 4))], [np.array([[0.0], [1.0], [1.0], [0.0]])])
    assert np.diff(packed.arrays.starts).tolist() == [2]


def test_nodes_at_distance_zero_with_other_rows_stay_apart() -> None:
    matrix = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [1.0, 2.0, 0.0]])
    assert np.diff(pack([matrix]).arrays.starts).tolist() == [3]
