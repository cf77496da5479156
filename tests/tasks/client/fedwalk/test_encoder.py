from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.encoder import encode, encoder_for
from tasks.evaluation.audits.lower_bound import audit_epsilon
from tasks.seeds import generator


def encodings(tree: ClusterTree, epsilon: str, vertex: int, count: int, seed: int) -> np.ndarray:
    encoder, rng = encoder_for(tree, epsilon), generator(seed)
    return np.array([encode(encoder, vertex, climb, pick) for climb, pick in rng.random((count, 2))])


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "2"])
def test_normalisers_are_the_sums_of_the_definition(uneven_tree, levels, epsilon):
    expected = np.exp(-float(epsilon) * levels(uneven_tree)).sum(axis=1)
    assert encoder_for(uneven_tree, epsilon).normaliser == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "2"])
@pytest.mark.parametrize("vertex", [0, 3, 6, 9])
def test_the_law_is_the_exact_one(uneven_tree, exact_law, epsilon, vertex):
    count = 20_000
    observed = np.bincount(encodings(uneven_tree, epsilon, vertex, count, 1), minlength=10)
    expected = exact_law(uneven_tree, float(epsilon))[vertex] * count
    likely = expected > 5
    pooled = [np.append(side[likely], side[~likely].sum()) for side in (observed, expected)]
    if pooled[1][-1] == 0:
        pooled = [side[:-1] for side in pooled]
    assert chisquare(*pooled).pvalue > 1e-4


def test_rho_is_an_ultrametric(uneven_tree, levels):
    rho = levels(uneven_tree)
    assert np.array_equal(rho, rho.T)
    for x in range(10):
        assert (rho <= np.maximum(rho[:, [x]], rho[[x], :])).all()


def test_infinite_budget_is_the_identity(uneven_tree):
    encoder = encoder_for(uneven_tree, "inf")
    assert [encode(encoder, v, 0.999999, 0.999999) for v in range(10)] == list(range(10))


def test_draws_at_the_ends_of_the_interval_stay_in_the_tree(uneven_tree):
    encoder = encoder_for(uneven_tree, "0.05")
    last = 1 - 2.0**-53
    for vertex in range(10):
        assert encode(encoder, vertex, 0.0, 0.0) == vertex
        assert 0 <= encode(encoder, vertex, last, last) < 10


def test_a_tree_of_two_leaves():
    pair = ClusterTree("random", "balanced", np.array([[0, 1]], dtype=np.int32))
    kept = np.mean(encodings(pair, "1", 0, 20_000, 2) == 0)
    assert kept == pytest.approx(1 / (1 + np.exp(-1)), abs=0.02)


def test_the_audit_of_a_pair_stays_below_its_distance(uneven_tree, levels):
    """Vertices 0 and 1 are siblings at level 1: epsilon * 1, their normalisers being equal."""
    first, second = (encodings(uneven_tree, "1", vertex, 60_000, vertex) for vertex in (0, 1))
    assert levels(uneven_tree)[0, 1] == 1
    assert 0.85 < audit_epsilon(first, second).lower_bound <= 1.0
