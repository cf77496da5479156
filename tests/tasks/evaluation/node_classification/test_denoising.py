from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.curator.calibration.bayes import bayes_hard_graph, bayes_soft_graph
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.node_classification.denoising import denoising
from tasks.evaluation.node_classification.edge_recovery import noise_edges
from tasks.seeds import generator

UPPER = np.triu(np.random.default_rng(0).random((50, 50)) < 0.08, 1)
TRUTH = (UPPER | UPPER.T).astype(np.int8)
GRAPH = RawGraph(name="toy", adjacency=csr_array(TRUTH), private=False)


def report(mode: str, epsilon: str = "2"):
    return randomise_neighbour_lists(GRAPH.adjacency, epsilon, mode, generator(1), 10, True, dataset="toy")  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["directed", "pair"])
@pytest.mark.parametrize("calibrate", [bayes_soft_graph, bayes_hard_graph])
@pytest.mark.parametrize("nodes", [None, np.arange(5, 30)])
def test_against_dense_counting(mode: str, calibrate, nodes) -> None:
    reports = report(mode)
    weights = calibrate(reports)
    result = denoising(GRAPH, reports, weights, nodes)
    dense, off = weights.toarray(), ~np.eye(50, dtype=bool)
    counted = np.isin(np.arange(50), np.arange(50) if nodes is None else nodes)
    off &= counted[:, None]
    dense = dense * counted[:, None]
    reported = (reports.adjacency().toarray() > 0) & off
    true = dense[reported & (TRUTH == 1)]
    false = dense[reported & (TRUTH == 0)]
    wins = (true[:, None] > false[None, :]).mean() + 0.5 * (true[:, None] == false[None, :]).mean()
    assert result.auc == pytest.approx(wins)
    assert result.true_kept == ((dense > 0) & (TRUTH == 1)).sum()
    assert result.true_kept + result.true_lost == TRUTH[counted].sum()
    assert result.false_kept == ((dense > 0) & (TRUTH == 0)).sum()
    assert result.false_removed == (false == 0).sum()


def test_the_raw_report_and_the_truth_are_the_two_ends() -> None:
    reports = report("directed-no-diagonal")
    raw, ideal = (denoising(GRAPH, reports, graph) for graph in (reports.adjacency(), GRAPH.adjacency))
    assert raw.auc == 0.5 and raw.false_kept == noise_edges(GRAPH, reports) and raw.false_removed == 0
    assert ideal.auc == 1.0 and ideal.false_kept == ideal.true_lost == 0 and ideal.false_removed == raw.false_kept


def test_without_noise_there_is_nothing_to_separate() -> None:
    clean = report("directed", "inf")
    assert denoising(GRAPH, clean, clean.adjacency()).auc is None


def test_private_sets_and_other_sizes_are_refused() -> None:
    reports = report("directed")
    private = RawGraph(name="mine", adjacency=GRAPH.adjacency, private=True)
    with pytest.raises(UserError, match="mine"):
        denoising(private, reports, reports.adjacency())
    with pytest.raises(UserError, match=r"toy.* 3 "):
        denoising(GRAPH, reports, csr_array((3, 3)))
