from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.attacks.pair_ranking import BLOCK, FirstPairs, auc, rank_pairs
from tasks.evaluation.attacks.pairs import sample_pairs
from tasks.seeds import generator
from tests.tasks.evaluation.attacks.conftest import planted


def expected_precision(scores: np.ndarray, edge: np.ndarray, wanted: int, draws: int = 4000) -> float:
    """Mean share of edges among the first, ties in random order."""
    rng = generator(3)
    order = [np.lexsort((rng.random(len(scores)), -scores))[:wanted] for _ in range(draws)]
    return float(np.mean([edge[first].mean() for first in order]))


def test_the_truth_is_a_perfect_score_and_its_opposite_the_worst(graph: RawGraph) -> None:
    truth = graph.adjacency.toarray().astype(np.float64)
    pairs = sample_pairs(graph, generator(0))
    assert graph.nodes > BLOCK
    perfect = rank_pairs(graph, lambda rows: truth[rows], pairs)
    assert (perfect.auc, perfect.precision) == (1.0, 1.0)
    worst = rank_pairs(graph, lambda rows: -truth[rows], pairs)
    assert (worst.auc, worst.precision) == (0.0, 0.0)


def test_a_blind_score_is_worth_the_base_rate(graph: RawGraph) -> None:
    blind = rank_pairs(graph, lambda rows: np.zeros((rows.stop - rows.start, 300)), sample_pairs(graph, generator(0)))
    assert blind.auc == 0.5
    assert blind.precision == pytest.approx(graph.edges / (300 * 299 / 2))


@pytest.mark.parametrize("levels", [2, 5, 1000])
def test_the_first_pairs_do_not_depend_on_how_scores_arrive(levels: int) -> None:
    rng = generator(levels)
    scores, edge = rng.integers(0, levels, size=400).astype(float), rng.random(400) < 0.2
    expected = expected_precision(scores, edge, 60)
    for cuts in ([], [10, 30, 200], list(range(1, 400))):
        first = FirstPairs(60)
        for part, hit in zip(np.split(scores, cuts), np.split(edge, cuts), strict=True):
            first.add(part, hit)
        assert first.precision == pytest.approx(expected, abs=0.01)


def test_the_auc_is_that_of_scikit_learn() -> None:
    rng = generator(0)
    edge, scores = rng.random(300) < 0.3, rng.integers(0, 9, size=300).astype(float)
    assert auc(edge, scores) == pytest.approx(roc_auc_score(edge, scores))


def test_a_private_graph_is_refused(graph: RawGraph) -> None:
    with pytest.raises(UserError):
        rank_pairs(planted(60, private=True), lambda _: np.zeros((1, 1)), sample_pairs(graph, generator(0)))
