from __future__ import annotations

import math

import pytest

from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.attacks.edge_inference import infer_edges
from tasks.evaluation.attacks.pairs import sample_pairs
from tasks.reports.edge import EdgeReport
from tasks.reports.edge_mode import EdgeMode
from tasks.seeds import generator
from tests.tasks.evaluation.attacks.conftest import planted


def report(graph: RawGraph, epsilon: str, mode: EdgeMode = "directed") -> EdgeReport:
    return randomise_neighbour_lists(
        graph.adjacency, epsilon, mode, generator(5), memory_limit_mb=100, simulated=True, dataset=graph.name
    )


def auc_of_bits(edge: list[float], other: list[float]) -> float:
    """P(X > Y) + P(X = Y)/2 for independent scores with these probabilities of 0, 1, ..."""
    pairs = [(p * q, x, y) for x, p in enumerate(edge) for y, q in enumerate(other)]
    return sum(w * ((x > y) + (x == y) / 2) for w, x, y in pairs)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "4"])
def test_the_law_of_randomised_response_decides_the_outcome(epsilon: str) -> None:
    graph = planted(600)
    found = infer_edges(graph, report(graph, epsilon), sample_pairs(graph, generator(0)))
    q = 1 / (1 + math.exp(-float(epsilon)))
    p = 1 - q
    expected = {
        "one list": q,
        "both lists": auc_of_bits([p * p, 2 * p * q, q * q], [q * q, 2 * p * q, p * p]),
        "mutual": auc_of_bits([1 - q * q, q * q], [1 - p * p, p * p]),
    }
    for name, value in expected.items():
        # Hanley and McNeil: at most sqrt(A (1 - A) / the smaller class) off, one standard deviation
        assert found.auc[name] == pytest.approx(value, abs=4 * math.sqrt(value * (1 - value) / graph.edges))
    assert found.auc["bayes"] > found.auc["both lists"] - 0.01


def test_without_noise_everything_is_known(graph: RawGraph) -> None:
    found = infer_edges(graph, report(graph, "inf"), sample_pairs(graph, generator(0)))
    assert set(found.auc.values()) == {1.0}
    assert found.precision == 1.0


def test_with_hardly_any_budget_nothing_is(graph: RawGraph) -> None:
    found = infer_edges(graph, report(graph, "0.001"), sample_pairs(graph, generator(0)))
    bound = 4 / math.sqrt(4 * graph.edges)
    assert all(abs(auc - 0.5) < bound for name, auc in found.auc.items() if name != "bayes")
    assert found.precision == pytest.approx(found.base_rate, rel=0.5)
    assert found.base_rate == graph.edges / (300 * 299 / 2)


def test_refusals(graph: RawGraph, secret: RawGraph) -> None:
    pairs = sample_pairs(graph, generator(0))
    with pytest.raises(UserError, match="directed"):
        infer_edges(graph, report(graph, "1", "pair"), pairs)
    with pytest.raises(UserError, match="private"):
        infer_edges(secret, report(secret, "1"), pairs)
