from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from tasks.curator.calibration.mutual import mutual_graph
from tasks.errors import UserError


def symmetric(nodes: int, density: float, seed: int) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).random((nodes, nodes)) < density, 1)
    return (upper | upper.T).astype(np.int8)


@given(seed=st.integers(0, 10_000), mode=st.sampled_from(["directed", "directed-no-diagonal"]))
@settings(max_examples=25)
def test_against_dense_and(edge_report, seed: int, mode: str) -> None:
    report = edge_report(symmetric(15, 0.2, seed), "1", mode, seed)
    bits = report.adjacency().toarray()
    expected = bits & bits.T
    np.fill_diagonal(expected, 0)
    graph = mutual_graph(report)
    np.testing.assert_array_equal(graph.toarray(), expected)
    assert graph.dtype == np.int8 and graph.has_canonical_format and graph.nnz == expected.sum()


def test_pairs_survive_at_the_stated_rates(edge_report) -> None:
    """q^2 of the true pairs and p^2 of the false ones, within five standard deviations."""
    truth = symmetric(300, 0.2, 1)
    p = expit(-2.0)
    kept = np.triu(mutual_graph(edge_report(truth, "2")).toarray(), 1).astype(bool)
    for pairs, rate in ((np.triu(truth, 1) == 1, (1 - p) ** 2), (np.triu(1 - truth, 1) == 1, p**2)):
        count = pairs.sum()
        assert abs(kept[pairs].sum() - count * rate) < 5 * math.sqrt(count * rate * (1 - rate))


def test_without_noise_it_is_the_graph(edge_report) -> None:
    truth = symmetric(30, 0.1, 2)
    np.testing.assert_array_equal(mutual_graph(edge_report(truth, "inf")).toarray(), truth)


def test_one_report_per_relation_is_refused(edge_report) -> None:
    with pytest.raises(UserError, match="pair"):
        mutual_graph(edge_report(symmetric(10, 0.2, 3), "2", "pair"))
