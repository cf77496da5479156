from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from tasks.curator.calibration.bayes import bayes_hard_graph, bayes_soft_graph, degree_estimates
from tasks.curator.calibration.mutual import mutual_graph

MODES = ["directed", "directed-no-diagonal", "pair"]


def symmetric(nodes: int, density: float, seed: int) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).random((nodes, nodes)) < density, 1)
    return (upper | upper.T).astype(np.int8)


def hubs_and_leaves(nodes: int, seed: int) -> np.ndarray:
    """Pairs independent, odds a product of node terms: the model of the prior. Degrees from about 2 to 60."""
    rng = np.random.default_rng(seed)
    term = rng.pareto(1.5, nodes) + 1
    odds = np.minimum(term[:, None] * term[None, :] * 3 / term.sum(), 1.0)
    upper = np.triu(rng.random((nodes, nodes)) < odds / (1 + odds), 1)
    return (upper | upper.T).astype(np.int8)


@pytest.mark.parametrize("mode", MODES)
@given(seed=st.integers(0, 1000), epsilon=st.sampled_from(["0.5", "2", "5"]))
@settings(max_examples=15)
def test_the_posterior_is_bayes_rule_bit_by_bit(edge_report, mode: str, seed: int, epsilon: str) -> None:
    """Products of probabilities over the pair's own bits, in a double loop."""
    nodes = 12
    report = edge_report(symmetric(nodes, 0.3, seed), epsilon, mode, seed)
    bits, keep = report.adjacency().toarray(), float(expit(float(epsilon)))
    ends = 1 if mode == "pair" else 2
    degrees = np.zeros(nodes)
    for i in range(nodes):
        ones = sum(bits[i, j] if mode == "pair" else bits[i, j] + bits[j, i] for j in range(nodes) if j != i)
        degrees[i] = (ones / ends - (nodes - 1) * (1 - keep)) / (2 * keep - 1)
    np.testing.assert_allclose(degree_estimates(report), degrees, atol=1e-9)
    noise = (nodes - 1) * keep * (1 - keep) / (2 * keep - 1) ** 2 / ends
    trust = max(0.0, 1 - noise / degrees.var()) if degrees.var() > 1e-12 else 0.0
    total = max(1.0, degrees.sum())
    clipped = np.clip(trust * degrees + (1 - trust) * degrees.mean(), 1, nodes - 1)
    expected = np.zeros((nodes, nodes))
    for i in range(nodes):
        for j in range(nodes):
            reported = [bits[min(i, j), max(i, j)]] if mode == "pair" else [bits[i, j], bits[j, i]]
            if i == j or not any(reported):
                continue
            odds = total * clipped[i] * clipped[j] / clipped.sum() ** 2
            true = odds / (1 + odds) * math.prod(keep if bit else 1 - keep for bit in reported)
            false = 1 / (1 + odds) * math.prod(1 - keep if bit else keep for bit in reported)
            expected[i, j] = true / (true + false)
    soft, hard = bayes_soft_graph(report), bayes_hard_graph(report)
    np.testing.assert_allclose(soft.toarray(), expected, atol=1e-12)
    np.testing.assert_array_equal(hard.toarray(), expected > 0.5)
    assert soft.has_canonical_format and hard.has_canonical_format and hard.dtype == np.int8


@pytest.mark.parametrize("mode", MODES)
def test_degrees_are_unbiased_and_within_their_variance(edge_report, mode: str) -> None:
    truth = symmetric(200, 0.05, 3)
    p, ends = expit(-1.5), 1 if mode == "pair" else 2
    errors = np.array([degree_estimates(edge_report(truth, "1.5", mode, seed)) for seed in range(40)])
    errors -= truth.sum(axis=1)
    variance = 199 * p * (1 - p) / (1 - 2 * p) ** 2 / ends
    # Nodes share pairs, so the grand mean varies by twice the pairs' own share.
    assert abs(errors.mean()) < 5 * math.sqrt(2 * variance / errors.size)
    assert errors.var() == pytest.approx(variance, rel=0.1)


@pytest.mark.parametrize(("mode", "epsilon"), [("directed", "3"), ("pair", "4"), ("pair", "6")])
def test_probabilities_mean_what_they_say(edge_report, mode: str, epsilon: str) -> None:
    """Pairs with a posterior near x are true in a share near x, and the posteriors add up to the edges."""
    truth = hubs_and_leaves(700, 4)
    soft = bayes_soft_graph(edge_report(truth, epsilon, mode))
    rows, columns = soft.tocoo().coords
    upper = rows < columns
    posterior, real = soft.data[upper], truth[rows[upper], columns[upper]]
    for low in (0.0, 0.25, 0.5, 0.75):
        bin_ = (posterior >= low) & (posterior < low + 0.25)
        if bin_.sum() > 300:
            assert abs(posterior[bin_].mean() - real[bin_].mean()) < 0.12
    assert posterior.sum() == pytest.approx(real.sum(), rel=0.15)


def test_hard_has_fewer_wrong_pairs_than_the_reports(edge_report) -> None:
    truth = hubs_and_leaves(400, 5)
    for mode, epsilon in (("directed", "3"), ("pair", "3"), ("pair", "5")):
        report = edge_report(truth, epsilon, mode)
        wrong = (bayes_hard_graph(report).toarray() != truth).sum()
        assert wrong < (report.adjacency().toarray() != truth).sum()


def test_two_clear_reports_make_it_mutual(edge_report) -> None:
    """Where the budget outweighs every prior, both bits are needed and enough."""
    report = edge_report(symmetric(300, 0.02, 8), "7")
    assert (bayes_hard_graph(report) != mutual_graph(report)).nnz == 0


def test_what_leaving_silent_pairs_out_costs(edge_report) -> None:
    """E p^c true pairs are silent, the number that the sparse form gives up."""
    truth = symmetric(300, 0.1, 6)
    p = expit(-1.0)
    for mode, ends in (("directed", 2), ("pair", 1)):
        soft = bayes_soft_graph(edge_report(truth, "1", mode)).toarray()
        silent = (np.triu(truth, 1) == 1) & (soft == 0)
        expected = truth.sum() / 2 * p**ends
        assert abs(silent.sum() - expected) < 5 * math.sqrt(expected)


@pytest.mark.parametrize("mode", MODES)
def test_without_noise_it_is_the_graph(edge_report, mode: str) -> None:
    truth = symmetric(30, 0.1, 7)
    report = edge_report(truth, "inf", mode)
    np.testing.assert_array_equal(bayes_soft_graph(report).toarray(), truth)
    np.testing.assert_array_equal(bayes_hard_graph(report).toarray(), truth)


def test_an_empty_report_gives_an_empty_graph(edge_report) -> None:
    assert bayes_soft_graph(edge_report(np.zeros((6, 6)), "30")).nnz == 0
