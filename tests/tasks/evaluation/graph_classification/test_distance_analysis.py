import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tasks.errors import UserError
from tasks.evaluation.graph_classification.distance_analysis import (
    nearest_neighbour_accuracy,
    pair_statistics,
    plane_map,
)
from tasks.evaluation.graph_classification.graph_scoring import score_partition


def points(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], 20)
    places = rng.normal(size=(60, 2)) + 4 * labels[:, None]
    return cdist(places, places, "sqeuclidean"), labels


@pytest.mark.parametrize("k", [1, 5, 20])
def test_neighbours_vote_as_defined(k: int) -> None:
    distances, labels = points()
    scores = nearest_neighbour_accuracy(distances, labels, k, seed=3, folds=5)
    assert scores.shape == (5,)
    assert scores.mean() > 0.85
    assert (scores == nearest_neighbour_accuracy(distances, labels, k, seed=3, folds=5)).all()


def test_leave_one_out_by_hand() -> None:
    """With folds as large as the classes every fold holds one graph of each."""
    distances, labels = points()
    scores = nearest_neighbour_accuracy(distances, labels, 1, seed=0, folds=20)
    np.fill_diagonal(distances, np.inf)
    alone = (labels[distances.argmin(axis=1)] == labels).mean()
    assert abs(scores.mean() - alone) < 0.06


def test_chance_without_information() -> None:
    labels = np.repeat([0, 1], 100)
    noise = np.random.default_rng(0).random((200, 200))
    assert abs(nearest_neighbour_accuracy(noise + noise.T, labels, 5, seed=0).mean() - 0.5) < 0.15


def test_maps_keep_neighbours_together() -> None:
    distances, labels = points()
    places = plane_map(distances, seed=0)
    assert places.shape == (60, 2)
    nearest = cdist(places, places) + np.diag(np.full(60, np.inf))
    assert score_partition(labels[nearest.argmin(axis=1)], labels)["accuracy"] > 0.85
    copies = np.zeros((5, 5))
    assert (plane_map(copies, seed=0) == plane_map(copies, seed=0)).all()


def test_statistics_over_pairs() -> None:
    assert pair_statistics(np.array([[0.0, 1, 2], [1, 0, 6], [2, 6, 0]])) == (3.0, pytest.approx(np.std([1, 2, 6])))


def test_too_few_graphs_are_refused() -> None:
    distances, labels = points()
    with pytest.raises(UserError, match="folds"):
        nearest_neighbour_accuracy(distances, labels, 1, seed=0, folds=21)
    with pytest.raises(UserError, match="neighbours: 60"):
        nearest_neighbour_accuracy(distances, labels, 60, seed=0)
    with pytest.raises(UserError):
        plane_map(np.zeros((3, 3)), seed=0)
    with pytest.raises(UserError):
        pair_statistics(np.zeros((1, 1)))
