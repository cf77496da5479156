import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.client.shortest_paths import shortest_path_distances
from tasks.curator.gromov.distances import gromov_distances
from tasks.curator.kernels.clustering import _first_centres, _nearest, gromov_k_means
from tasks.errors import UserError
from tasks.evaluation.graph_classification.graph_scoring import score_partition


def path(n: int) -> np.ndarray:
    return np.abs(np.arange(n)[:, None] - np.arange(n)).astype(np.float64)


def clique(n: int) -> np.ndarray:
    return np.ones((n, n)) - np.eye(n)


MATRICES = [path(n) for n in (9, 10, 11, 9, 10)] + [clique(n) for n in (5, 6, 7, 5, 6)] + [path(4), path(4), path(5)]
LABELS = np.repeat([0, 1, 2], [5, 5, 3])
DISTANCES = gromov_distances(MATRICES, threads=1).values


def test_kinds_of_graphs_are_told_apart() -> None:
    found = [gromov_k_means(MATRICES, DISTANCES, 3, np.random.default_rng(seed), threads=1) for seed in range(4)]
    best = min(found, key=lambda clustering: min(clustering.inertia))
    assert score_partition(best.assignment, LABELS)["ari"] == 1.0
    assert sorted(len(centre) for centre in best.centres) == [4, 6, 10]  # the mean sizes


def test_result_is_a_function_of_the_generator_and_is_the_best_round() -> None:
    one, two = (gromov_k_means(MATRICES, DISTANCES, 3, np.random.default_rng(5), threads=1) for _ in range(2))
    assert (one.assignment == two.assignment).all()
    assert all((a == b).all() for a, b in zip(one.centres, two.centres, strict=True))
    to_centres = gromov_distances(MATRICES, one.centres, threads=1).values
    assert to_centres.min(axis=1).mean() == pytest.approx(min(one.inertia), rel=1e-6)
    assert all((centre == centre.T).all() for centre in one.centres)


def test_one_cluster_and_as_many_as_graphs() -> None:
    assert not gromov_k_means(MATRICES, DISTANCES, 1, np.random.default_rng(0), threads=1).assignment.any()
    every = gromov_k_means(MATRICES, DISTANCES, len(MATRICES), np.random.default_rng(0), threads=1)
    assert len(np.unique(every.assignment)) == len(MATRICES)


def test_graphs_of_one_node_are_clustered_too() -> None:
    matrices = [np.zeros((1, 1)), np.zeros((1, 1)), path(8), path(9)]
    distances = gromov_distances(matrices, threads=1).values
    assignment = gromov_k_means(matrices, distances, 2, np.random.default_rng(0), threads=1).assignment
    assert assignment[0] == assignment[1] != assignment[2] == assignment[3]


def test_first_centres_differ_even_among_copies() -> None:
    assert sorted(_first_centres(np.zeros((4, 4)), 4, np.random.default_rng(0))) == [0, 1, 2, 3]
    far = np.array([[0.0, 0, 9], [0, 0, 9], [9, 9, 0]])
    for seed in range(20):
        assert 2 in _first_centres(far, 2, np.random.default_rng(seed))


def test_no_centre_is_left_alone() -> None:
    to_centres = np.array([[1.0, 5, 9], [2.0, 5, 9], [4.0, 5, 9], [3.0, 5, 9]])
    assert sorted(_nearest(to_centres)) == [0, 0, 1, 2]


def test_wrong_numbers_are_refused() -> None:
    for clusters in (0, 14):
        with pytest.raises(UserError, match=f"clusters: {clusters} "):
            gromov_k_means(MATRICES, DISTANCES, clusters, np.random.default_rng(0))
    with pytest.raises(UserError, match=r"\(13, 13\).* 12 "):
        gromov_k_means(MATRICES[:12], DISTANCES, 2, np.random.default_rng(0))


def test_a_disconnected_graph_has_a_centre_of_its_own_kind() -> None:
    apart = shortest_path_distances(csr_array((6, 6), dtype=np.int8))
    distances = gromov_distances([apart, apart, path(6)], threads=1).values
    assignment = gromov_k_means([apart, apart, path(6)], distances, 2, np.random.default_rng(1), threads=1).assignment
    assert assignment[0] == assignment[1] != assignment[2]
