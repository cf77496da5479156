import numpy as np
import pytest

from tasks.curator.kernels.node_counts import node_count_k_means
from tasks.errors import UserError


def test_sizes_far_apart_are_told_apart_and_equal_ones_stay_together() -> None:
    counts = np.array([2, 3, 2, 3, 40, 45, 900, 1000, 2])
    found = node_count_k_means(counts, 3, seed=0)
    assert len(np.unique(found)) == 3
    assert found[0] == found[1] == found[2] == found[3] == found[8]
    assert found[4] == found[5]
    assert found[6] == found[7]
    np.testing.assert_array_equal(found, node_count_k_means(counts, 3, seed=0))


def test_it_is_a_local_optimum_of_the_squared_logarithms() -> None:
    """No graph would be nearer to another cluster's mean (Lloyd's condition)."""
    counts = np.random.default_rng(0).integers(2, 200, size=150)
    found, sizes = node_count_k_means(counts, 6, seed=1), np.log(counts)
    means = np.array([sizes[found == cluster].mean() for cluster in range(6)])
    np.testing.assert_array_equal(np.abs(sizes[:, None] - means).argmin(axis=1), found)


def test_fewer_sizes_than_clusters_leave_clusters_empty() -> None:
    assert len(np.unique(node_count_k_means(np.array([5, 5, 7, 7]), 4, seed=0))) == 2


def test_wrong_numbers_are_refused() -> None:
    for clusters in (0, 4):
        with pytest.raises(UserError, match=f"clusters: {clusters} "):
            node_count_k_means(np.array([2, 3, 4]), clusters, seed=0)
