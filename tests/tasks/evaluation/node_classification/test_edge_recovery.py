import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.node_classification.edge_recovery import mean_degree, noise_edges
from tasks.seeds import generator

DENSE = (np.random.default_rng(0).random((60, 60)) < 0.05).astype(np.int8)
GRAPH = RawGraph(name="toy", adjacency=csr_array(np.triu(DENSE, 1) | np.triu(DENSE, 1).T), private=False)


@pytest.mark.parametrize("mode", ["directed", "directed-no-diagonal", "pair"])
@pytest.mark.parametrize("epsilon", ["0.5", "3", "inf"])
def test_against_dense_counting(mode: str, epsilon: str) -> None:
    report = randomise_neighbour_lists(GRAPH.adjacency, epsilon, mode, generator(1), 10, True, dataset="toy")  # type: ignore[arg-type]
    noisy, truth = report.adjacency().toarray(), GRAPH.adjacency.toarray()
    false = int(((noisy == 1) & (truth == 0)).sum())
    assert noise_edges(GRAPH, report) == (false // 2 if mode == "pair" else false)
    assert mean_degree(report) == pytest.approx(noisy.sum(axis=1).mean())


def test_private_sets_and_foreign_reports_are_refused() -> None:
    report = randomise_neighbour_lists(GRAPH.adjacency, "1", "directed", generator(1), 10, True, dataset="toy")
    with pytest.raises(UserError, match=r"mine.*private"):
        noise_edges(RawGraph(name="mine", adjacency=GRAPH.adjacency, private=True), report)
    other = RawGraph(name="other", adjacency=csr_array((5, 5), dtype=np.int8), private=False)
    with pytest.raises(UserError, match=r"other.* 60 .* 5"):
        noise_edges(other, report)


@pytest.mark.parametrize(("epsilon", "noise", "degree"), [("7", 6671, 6.35), ("8", 2456, None)])
def test_counts_at_the_size_of_cora(epsilon: str, noise: int, degree: float | None) -> None:
    rng = np.random.default_rng(4)
    pairs = np.unique(np.sort(rng.integers(0, 2708, size=(2, 5400)), axis=0), axis=1)
    pairs = pairs[:, pairs[0] != pairs[1]][:, :5278]
    rows, columns = np.r_[pairs[0], pairs[1]], np.r_[pairs[1], pairs[0]]
    adjacency = csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(2708, 2708))
    graph = RawGraph(name="cora-like", adjacency=adjacency, private=False)
    report = randomise_neighbour_lists(adjacency, epsilon, "directed", generator(8), 10, True, dataset="toy")
    assert abs(noise_edges(graph, report) - noise) < 5.5 * math.sqrt(noise)
    if degree is not None:
        assert mean_degree(report) == pytest.approx(degree, abs=0.1)
