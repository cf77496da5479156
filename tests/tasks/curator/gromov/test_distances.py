"""Agreement with POT and the symmetries that the discrepancy must have."""

import numpy as np
import ot
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from tasks.curator.gromov.distances import gromov_distances, solve_pairs
from tasks.errors import UserError


def embedding_distances(rng: np.random.Generator, sizes: list[int], width: int = 6) -> list[np.ndarray]:
    points = [rng.normal(size=(size, width)) for size in sizes]
    return [cdist(x, x) for x in points]


def path_distances(rng: np.random.Generator, sizes: list[int]) -> list[np.ndarray]:
    matrices = []
    for size in sizes:
        adjacency = np.triu(rng.random((size, size)) < 0.25, 1).astype(float)
        distances = shortest_path(adjacency + adjacency.T + np.eye(size, k=1) + np.eye(size, k=-1), unweighted=True)
        matrices.append(distances)
    return matrices


def pot_values(matrices: list[np.ndarray], pairs: np.ndarray) -> np.ndarray:
    return np.array([ot.gromov.gromov_wasserstein2(matrices[i], matrices[j]) for i, j in pairs])


def test_equals_pot_on_random_embeddings() -> None:
    rng = np.random.default_rng(1)
    matrices = embedding_distances(rng, list(rng.integers(3, 40, 16)))
    result = gromov_distances(matrices, threads=1)
    first, second = np.triu_indices(16, 1)
    reference = pot_values(matrices, np.stack([first, second], 1))
    np.testing.assert_allclose(result.values[first, second], reference, atol=1e-9, rtol=1e-9)
    np.testing.assert_array_equal(result.values, result.values.T)
    assert result.iterations > 0


def test_equals_pot_on_noised_softmax_rows_with_twins() -> None:
    rng = np.random.default_rng(2)
    matrices = []
    for size in rng.integers(5, 30, 10):
        rows = np.exp(rng.normal(size=(4, 8)))[rng.integers(0, 4, size)]
        clean = rows / rows.sum(1, keepdims=True)
        noised = clean + rng.normal(0, 0.1, clean.shape)
        matrices += [cdist(clean, clean), cdist(noised, noised)]
    pairs = np.array([(i, j) for i in range(20) for j in range(i) if (i - j) % 2 == 0])
    solved = solve_pairs(matrices, pairs, threads=1)
    np.testing.assert_allclose(solved.values, pot_values(matrices, pairs), atol=1e-9)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.75, 1.0])
def test_fused_equals_pot(alpha: float) -> None:
    rng = np.random.default_rng(3)
    sizes = [4, 9, 15, 15, 22]
    matrices = embedding_distances(rng, sizes)
    features = [rng.normal(size=(size, 3)) for size in sizes]
    result = gromov_distances(
        matrices[:2], matrices[2:], first_features=features[:2], second_features=features[2:], alpha=alpha, threads=1
    )
    for i in range(2):
        for j in range(3):
            reference = ot.gromov.fused_gromov_wasserstein2(
                ot.dist(features[i], features[2 + j]), matrices[i], matrices[2 + j], alpha=alpha
            )
            assert result.values[i, j] == pytest.approx(reference, abs=1e-8)


def test_without_structure_it_is_optimal_transport_of_the_features() -> None:
    rng = np.random.default_rng(12)
    matrices = embedding_distances(rng, [6, 11])
    features = [rng.normal(size=(size, 2)) for size in (6, 11)]
    result = gromov_distances(matrices, first_features=features, alpha=0.0, threads=1)
    reference = ot.emd2(np.full(6, 1 / 6), np.full(11, 1 / 11), ot.dist(features[0], features[1]))
    assert result.values[0, 1] == pytest.approx(reference, abs=1e-12)


def test_two_starts_on_shortest_paths_are_no_worse_than_pot_on_average() -> None:
    rng = np.random.default_rng(4)
    matrices = path_distances(rng, list(rng.integers(6, 22, 14)))
    pairs = np.stack(np.triu_indices(14, 1), 1)
    one = solve_pairs(matrices, pairs, threads=1).values
    two = solve_pairs(matrices, pairs, starts=2, threads=1).values
    assert (two <= one).all()
    assert two.mean() <= pot_values(matrices, pairs).mean()


def test_order_of_arguments_does_not_matter_even_with_ties() -> None:
    rng = np.random.default_rng(5)
    matrices = path_distances(rng, [7, 7, 12, 12, 9])
    forward = np.stack(np.triu_indices(5, 1), 1)
    np.testing.assert_array_equal(
        solve_pairs(matrices, forward, starts=3, threads=1).values,
        solve_pairs(matrices, forward[:, ::-1], starts=3, threads=1).values,
    )


def test_renumbering_the_nodes_does_not_matter() -> None:
    rng = np.random.default_rng(6)
    matrices = embedding_distances(rng, [8, 13, 13, 21])
    shuffled = []
    for matrix in matrices:
        order = rng.permutation(len(matrix))
        shuffled.append(matrix[np.ix_(order, order)])
    np.testing.assert_allclose(
        gromov_distances(matrices, threads=1).values, gromov_distances(shuffled, threads=1).values, atol=1e-12
    )


def test_isomorphic_copies_are_at_distance_zero() -> None:
    rng = np.random.default_rng(7)
    for matrix in embedding_distances(rng, [1, 2, 9, 30]):
        order = rng.permutation(len(matrix))
        value = gromov_distances([matrix], [matrix[np.ix_(order, order)]], threads=1).values[0, 0]
        assert 0.0 <= value < 1e-12


def test_threads_and_blocks_do_not_change_a_bit() -> None:
    rng = np.random.default_rng(8)
    matrices = path_distances(rng, list(rng.integers(3, 15, 12)))
    alone = gromov_distances(matrices, starts=3, seed=5, threads=1)
    together = gromov_distances(matrices, starts=3, seed=5, threads=4)
    np.testing.assert_array_equal(alone.values, together.values)
    pair = np.array([[3, 8]])
    assert solve_pairs(matrices, pair, starts=3, seed=5).values[0] == alone.values[3, 8]


def test_one_node_graph_against_another_has_a_closed_form() -> None:
    matrix = embedding_distances(np.random.default_rng(9), [11])[0]
    result = gromov_distances([np.zeros((1, 1))], [matrix, np.zeros((1, 1))], threads=1)
    np.testing.assert_allclose(result.values, [[np.mean(matrix**2), 0.0]], atol=1e-12)


def test_a_620_node_graph_equals_pot() -> None:
    rng = np.random.default_rng(10)
    matrices = embedding_distances(rng, [620, 25])
    value = gromov_distances(matrices, threads=1).values[0, 1]
    assert value == pytest.approx(ot.gromov.gromov_wasserstein2(*matrices, symmetric=True), abs=1e-9)


def test_integers_are_cast() -> None:
    path = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    star = np.where(np.eye(5), 0, 2)
    whole = gromov_distances([path, star], threads=1).values
    np.testing.assert_array_equal(whole, gromov_distances([path * 1.0, star * 1.0], threads=1).values)
    assert whole[0, 1] > 0


def test_progress_reaches_the_number_of_pairs() -> None:
    calls: list[tuple[int, int]] = []
    matrices = embedding_distances(np.random.default_rng(11), [4] * 12)
    gromov_distances(matrices, threads=1, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (66, 66)


def test_lists_of_one_and_of_no_graphs() -> None:
    np.testing.assert_array_equal(gromov_distances([np.zeros((2, 2))], threads=1).values, [[0.0]])
    with pytest.raises(UserError):
        gromov_distances([])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"starts": 0}, "starts"),
        ({"starts": 1.5}, "starts"),
        ({"threads": 0}, "threads"),
        ({"threads": 1.5}, "threads"),
        ({"alpha": 0.5}, "^alpha .*features"),
        ({"first_features": [np.ones((2, 1))] * 2}, "^features .*alpha"),
        ({"first_features": [np.ones((2, 1))] * 2, "alpha": 1.5}, "alpha: 1.5"),
        ({"first_features": [np.ones((2, 1))] * 2, "alpha": 0.5, "second": [np.zeros((2, 2))]}, "^features .*lists"),
        ({"second_features": [np.ones((2, 1))]}, "second_features"),
    ],
)
def test_unusable_options_are_refused_in_one_line(options: dict, named: str) -> None:
    with pytest.raises(UserError, match=named):
        gromov_distances([np.zeros((2, 2))] * 2, **options)


def test_features_belong_to_the_graphs_of_their_own_list() -> None:
    graph, rows = np.zeros((2, 2)), np.ones((2, 1))
    with pytest.raises(UserError, match=r"^2 .* 1 "):
        gromov_distances([graph], [graph] * 2, first_features=[rows] * 2, second_features=[rows], alpha=0.5)


def test_lists_may_be_stacked_arrays() -> None:
    graphs = np.stack([np.zeros((2, 2)), 1 - np.eye(2)])
    of_arrays, of_lists = gromov_distances(graphs, graphs), gromov_distances(list(graphs), list(graphs))
    np.testing.assert_array_equal(of_arrays.values, of_lists.values)


@pytest.mark.parametrize("pairs", [[[0, 5]], [[-1, 0]], [[0.0, 1.0]], [0, 1]])
def test_unusable_pairs_are_refused(pairs: list) -> None:
    with pytest.raises(UserError, match="pairs"):
        solve_pairs([np.zeros((2, 2))] * 2, np.array(pairs))
