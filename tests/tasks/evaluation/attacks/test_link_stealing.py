from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial import distance

from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.attacks.link_stealing import SIMILARITIES, class_control, steal_links, stolen_precision
from tasks.evaluation.attacks.pairs import sample_pairs
from tasks.seeds import generator

REFERENCE: dict[str, Callable[..., float]] = {
    "correlation": lambda u, v: 1 - distance.correlation(u, v),
    "cosine": lambda u, v: 1 - distance.cosine(u, v),
    "euclidean": lambda u, v: -distance.euclidean(u, v),
}


@pytest.mark.parametrize("name", SIMILARITIES)
def test_similarities_are_scipys(name: str) -> None:
    first, second = np.random.default_rng(0).dirichlet(np.ones(5), size=(2, 30))
    expected = [REFERENCE[name](u, v) for u, v in zip(first, second, strict=True)]
    assert SIMILARITIES[name](first, second) == pytest.approx(expected)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_an_undecided_posterior_is_similar_to_none(name: str) -> None:
    flat, sharp = np.full((1, 4), 0.25), np.array([[1.0, 0, 0, 0]])
    assert np.isfinite(SIMILARITIES[name](flat, sharp)).all()


def test_posteriors_of_the_classes_give_what_the_classes_give(graph: RawGraph) -> None:
    pairs = sample_pairs(graph, generator(0))
    sure = np.log(np.eye(3, dtype=np.float32)[graph.labels] * 0.97 + 0.01)
    control = class_control(graph, pairs)
    same = graph.labels[pairs.heads] == graph.labels[pairs.tails]
    # One threshold: the mean of the two rates of being right.
    assert control == pytest.approx((same[pairs.edge].mean() + (~same[~pairs.edge]).mean()) / 2)
    found = steal_links(graph, sure, pairs)
    assert set(found) == set(SIMILARITIES)
    for auc in found.values():
        assert auc == pytest.approx(control, abs=0.02)  # rounding orders equal rows


def test_posteriors_without_relation_to_the_graph_steal_nothing(graph: RawGraph) -> None:
    pairs = sample_pairs(graph, generator(0))
    noise = np.log(np.random.default_rng(1).dirichlet(np.ones(3), size=graph.nodes)).astype(np.float32)
    assert all(abs(auc - 0.5) < 0.08 for auc in steal_links(graph, noise, pairs).values())


def test_precision_is_that_of_the_likeliest_pairs(graph: RawGraph) -> None:
    posteriors = np.random.default_rng(1).dirichlet(np.ones(4), size=graph.nodes).astype(np.float32)
    similarity = np.corrcoef(posteriors.astype(float))
    pairs = sorted(
        ((similarity[i, j], graph.adjacency[i, j]) for i in range(graph.nodes) for j in range(i)), reverse=True
    )
    expected = sum(edge for _, edge in pairs[: graph.edges]) / graph.edges
    assert stolen_precision(graph, np.log(posteriors)) == pytest.approx(expected, abs=1e-9)


def test_pairs_that_tie_share_the_last_places(graph: RawGraph) -> None:
    """Three kinds of equal rows: every pair of a class is as likely, so the precision is their share of edges."""
    sure = np.log(np.eye(3, dtype=np.float32)[graph.labels] * 0.97 + 0.01)
    same = np.triu(graph.labels[:, None] == graph.labels, 1)
    assert stolen_precision(graph, sure) == pytest.approx(graph.adjacency.toarray()[same].mean())


def test_refusals(graph: RawGraph, secret: RawGraph) -> None:
    pairs = sample_pairs(graph, generator(0))
    with pytest.raises(UserError, match=r" 2 .* 300"):
        steal_links(graph, np.zeros((2, 3), dtype=np.float32), pairs)
    with pytest.raises(UserError, match="private"):
        steal_links(secret, np.zeros((60, 3), dtype=np.float32), pairs)
    with pytest.raises(UserError, match="private"):
        class_control(secret, pairs)
    with pytest.raises(UserError, match="private"):
        stolen_precision(secret, np.zeros((60, 3), dtype=np.float32))
    bare = RawGraph("bare", graph.adjacency, private=False)
    with pytest.raises(UserError, match="bare"):
        class_control(bare, pairs)
