import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from tasks.curator.kernels.distances import embedding_distances, node_count_distances
from tasks.errors import UserError


@settings(max_examples=40)
@given(seed=st.integers(0, 2**31), n=st.integers(1, 12), metric=st.sampled_from(["euclidean", "cosine", "correlation"]))
def test_distances_are_scipys_symmetric_and_zero_on_the_diagonal(seed: int, n: int, metric: str) -> None:
    h = np.random.default_rng(seed).normal(size=(n, 4))
    ours = embedding_distances(h, metric)
    np.testing.assert_allclose(ours, cdist(h, h, metric), atol=1e-7)
    assert (ours == ours.T).all()
    assert not ours.diagonal().any()
    assert (ours >= 0).all()


def test_rows_that_say_nothing_have_a_finite_stated_distance() -> None:
    h = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 0], [0.1, 0.1, 0.1]])
    cosine = embedding_distances(h, "cosine")
    assert cosine[0].tolist() == [0, 1, 0, 1]
    assert cosine[1, 3] == pytest.approx(1 - 1 / np.sqrt(3))
    correlation = embedding_distances(h, "correlation")
    assert correlation[0].tolist() == [0, 1, 0, 0]
    assert correlation[3].tolist() == [0, 1, 0, 0]


def test_one_node_a_large_graph_and_refusals() -> None:
    assert embedding_distances(np.ones((1, 3))).tolist() == [[0.0]]
    assert embedding_distances(np.eye(620), "cosine").shape == (620, 620)
    for bad in (np.empty((0, 3)), np.array([[np.nan, 1.0]])):
        with pytest.raises(UserError, match="NaN"):
            embedding_distances(bad)
    with pytest.raises(UserError, match="'chebyshev'"):
        embedding_distances(np.ones((2, 2)), "chebyshev")


def test_node_counts_alone() -> None:
    assert node_count_distances(np.array([3, 10])).tolist() == [[0, 7], [7, 0]]
