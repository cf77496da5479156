from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from tasks.client.labels import reveal_labels
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.attacks.block_model import block_densities, degree_factors, fit_block_model
from tasks.evaluation.attacks.edge_evidence import edge_evidence
from tasks.evaluation.attacks.informed_edges import READINGS, infer_informed
from tasks.evaluation.attacks.pairs import sample_pairs
from tasks.reports.edge import EdgeReport
from tasks.reports.edge_mode import EdgeMode
from tasks.reports.label import LabelReport
from tasks.seeds import generator
from tests.tasks.evaluation.attacks.conftest import planted


def reported(graph: RawGraph, epsilon: str, seed: int = 5, mode: EdgeMode = "directed") -> EdgeReport:
    return randomise_neighbour_lists(
        graph.adjacency, epsilon, mode, generator(seed), memory_limit_mb=100, simulated=True, dataset=graph.name
    )


def labels_of(graph: RawGraph, share: float = 0.75, seed: int = 1) -> LabelReport:
    assert graph.labels is not None
    order = generator(seed).permutation(graph.nodes)
    half, end = int(share * graph.nodes / 2), int(share * graph.nodes)
    train, validation = np.sort(order[:half]), np.sort(order[half:end])
    return reveal_labels(graph.labels, train, validation, classes=graph.classes, dataset=graph.name)


def likelihood(report: EdgeReport, pair: tuple[int, int], entry: int) -> float:
    """P(the pair's two bits | its entry), bit by bit."""
    keep = 1 / (1 + math.exp(-float(report.epsilon)))
    lists = report.adjacency()
    bits = (lists[pair], lists[pair[::-1]])
    return math.prod(keep if bit == entry else 1 - keep for bit in bits)


@pytest.mark.parametrize("mode", ["directed", "directed-no-diagonal"])
def test_ratios_are_those_of_the_law_bit_by_bit_and_add_up_over_reports(mode: EdgeMode) -> None:
    graph = planted(6, width=3)
    reports = [reported(graph, "0.7", seed, mode) for seed in range(3)]
    found = edge_evidence(reports)
    assert found.bits == 6
    for pair in product(range(6), repeat=2):
        if pair[0] == pair[1]:
            continue
        expected = sum(math.log(likelihood(r, pair, 1) / likelihood(r, pair, 0)) for r in reports)
        assert found.ratios[found.ones[pair]] == pytest.approx(expected)


def test_a_score_is_the_posterior_odds_over_all_graphs_of_six_nodes() -> None:
    graph = planted(6, width=3)
    reports = [reported(graph, "1.3", seed) for seed in range(2)]
    evidence = edge_evidence(reports)
    model = fit_block_model(evidence, labels_of(graph, 1))
    every = slice(0, 6)
    prior, score = (
        np.exp(np.sum([part(model, evidence, every) for part in READINGS[name]], axis=0))
        for name in ("classes and degrees", "bits, classes and degrees")
    )
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    total, with_edge = 0.0, np.zeros(len(pairs))
    # One factor for every pair, absent and present; the weight of a graph is their product.
    factors = [
        (
            math.prod(likelihood(r, pair, 0) for r in reports),
            prior[pair] * math.prod(likelihood(r, pair, 1) for r in reports),
        )
        for pair in pairs
    ]
    for entries in product((0, 1), repeat=len(pairs)):
        weight = math.prod(factor[entry] for factor, entry in zip(factors, entries, strict=True))
        total += weight
        with_edge += weight * np.array(entries)
    marginal = with_edge / total
    assert [score[pair] for pair in pairs] == pytest.approx(marginal / (1 - marginal))


def test_a_pair_that_all_reports_name_counts_as_one_report_at_the_sum_of_budgets() -> None:
    graph = planted(30)
    five, one = edge_evidence([reported(graph, "1", seed) for seed in range(5)]), edge_evidence([reported(graph, "5")])
    assert five.ratios[[0, -1]] == pytest.approx(one.ratios[[0, -1]])
    assert five.ratios[5] == pytest.approx(0)


def test_reports_of_one_bit_a_pair_are_evidence_too() -> None:
    graph = planted(30)
    found = edge_evidence([reported(graph, "2", mode="pair")])
    assert (found.bits, found.ratios.tolist()) == (1, [-2, 2])
    assert (found.ones == found.ones.T).all()


def test_estimates_are_unbiased_with_the_variance_that_they_claim() -> None:
    graph = planted(400)
    truth = graph.adjacency.toarray()
    upper = np.triu_indices(400, 1)
    evidence = edge_evidence([reported(graph, "1", seed) for seed in (0, 1)])
    values = evidence.estimates[evidence.ones[upper]]
    off = values - truth[upper]
    assert off.mean() == pytest.approx(0, abs=5 * math.sqrt(evidence.variance / len(off)))
    assert off.var() == pytest.approx(evidence.variance, rel=0.02)


def test_densities_and_degrees_are_those_of_the_graph_where_reports_have_no_noise(graph: RawGraph) -> None:
    assert graph.labels is not None
    evidence = edge_evidence([reported(graph, "inf")])
    densities = block_densities(evidence, graph.labels, graph.classes)
    member = np.eye(graph.classes)[graph.labels]
    sizes = member.sum(axis=0)
    exact = (member.T @ graph.adjacency @ member) / (np.outer(sizes, sizes) - np.diag(sizes))
    assert densities == pytest.approx(exact, rel=0.25)
    factors, degrees = degree_factors(evidence), np.diff(graph.adjacency.indptr)
    assert np.corrcoef(factors, degrees)[0, 1] > 0.99
    assert factors.mean() == pytest.approx(1, rel=0.05)


def test_beliefs_are_probabilities_certain_where_labels_are_known_and_better_than_the_prior_elsewhere() -> None:
    graph = planted(600)
    assert graph.labels is not None
    labels = labels_of(graph, 0.5)
    model = fit_block_model(edge_evidence([reported(graph, "4")]), labels)
    assert model.beliefs.sum(axis=1) == pytest.approx(1)
    assert (model.beliefs[labels.train_nodes, labels.train_labels] == 1).all()
    unknown = np.setdiff1d(np.arange(600), np.concatenate([labels.train_nodes, labels.validation_nodes]))
    assert (model.beliefs[unknown].argmax(axis=1) == graph.labels[unknown]).mean() > 0.8
    for rows in (slice(0, 600), slice(100, 300)):
        assert model.by_class(rows).shape == (rows.stop - rows.start, 600)
    assert model.by_class(slice(0, 600))[100:300] == pytest.approx(model.by_class(slice(100, 300)))


def test_labels_and_repeats_make_the_attack_stronger() -> None:
    graph = planted(600)
    labels, pairs = labels_of(graph), sample_pairs(graph, generator(0))
    reports = [reported(graph, "1", seed) for seed in range(4)]
    one, all_reports = infer_informed(graph, reports[:1], labels, pairs), infer_informed(graph, reports, labels, pairs)
    assert set(one) == set(READINGS)
    full = "bits, classes and degrees"
    for found in (one, all_reports):
        assert found[full].precision > max(found[name].precision for name in READINGS if name != full)
        assert found[full].auc > max(found[name].auc for name in READINGS if name != full)
    assert all_reports["bits"].precision > 2 * one["bits"].precision


def test_without_noise_everything_is_known(graph: RawGraph) -> None:
    found = infer_informed(graph, [reported(graph, "inf")], labels_of(graph), sample_pairs(graph, generator(0)))
    for reading in ("bits", "bits, classes and degrees"):
        assert (found[reading].auc, found[reading].precision) == (1.0, 1.0)


def test_refusals(graph: RawGraph, secret: RawGraph) -> None:
    pairs, labels = sample_pairs(graph, generator(0)), labels_of(graph)
    with pytest.raises(UserError):
        infer_informed(secret, [reported(secret, "1")], labels_of(secret), pairs)
    with pytest.raises(UserError):
        edge_evidence([reported(graph, "1"), reported(graph, "2")])
    with pytest.raises(UserError):
        edge_evidence([])
    with pytest.raises(UserError):
        infer_informed(graph, [reported(planted(60), "1")], labels, pairs)
