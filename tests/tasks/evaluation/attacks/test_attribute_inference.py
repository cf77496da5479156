from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.client.multibit import encode_features
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.attacks.attribute_inference import infer_from_neighbours, infer_from_reports, sample_attributes
from tasks.reports.feature import FeatureReport
from tasks.seeds import generator
from tests.tasks.evaluation.attacks.conftest import planted


def report(graph: RawGraph, epsilon: str) -> FeatureReport:
    assert graph.features is not None
    return encode_features(graph.features, (0, 1), epsilon, generator(5), simulated=True, dataset=graph.name)


def test_every_present_entry_stands_against_one_of_its_dimension(graph: RawGraph) -> None:
    sample = sample_attributes(graph, generator(0), most=500)
    dense = graph.features.toarray()  # type: ignore[union-attr]
    half = len(sample.present) // 2
    assert np.array_equal(dense[sample.nodes, sample.dimensions] == 1, sample.present)
    assert np.array_equal(sample.dimensions[:half], sample.dimensions[half:])
    assert half == 500


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
def test_the_law_of_the_multi_bit_mechanism_decides_the_outcome(epsilon: str) -> None:
    """m = 1: of d dimensions one is reported, and its sign is right with probability e^eps / (1 + e^eps)."""
    graph = planted(6000, width=4)
    found = infer_from_reports(graph, report(graph, epsilon), sample_attributes(graph, generator(0)))
    right = 1 / (1 + math.exp(-float(epsilon)))
    assert found["reported features"] == pytest.approx(right, abs=0.03)
    # Scores -, none, + with probabilities (1 - right, d - 1, right)/d of the present, the other way round of the rest
    present = np.array([1 - right, 3, right]) / 4
    above = np.tri(3, k=-1) + np.eye(3) / 2
    assert found["all features"] == pytest.approx(present @ above @ present[::-1], abs=0.02)


def test_without_noise_everything_is_known(graph: RawGraph) -> None:
    exact = report(graph, "inf")
    assert infer_from_reports(graph, exact, sample_attributes(graph, generator(0))) == {"all features": 1.0}


def test_neighbours_tell_where_they_are_alike(graph: RawGraph) -> None:
    """Links within classes carry features; a graph that links at random carries nothing more."""
    sample, noisy = sample_attributes(graph, generator(0)), report(graph, "2")
    alone = infer_from_neighbours(noisy, csr_array(graph.adjacency.shape, dtype=np.int8), sample)
    truth = infer_from_neighbours(noisy, graph.adjacency, sample)
    shuffled = np.random.default_rng(0).permutation(graph.nodes)
    elsewhere = infer_from_neighbours(noisy, csr_array(graph.adjacency[shuffled][:, shuffled]), sample)
    assert alone == pytest.approx(infer_from_reports(graph, noisy, sample)["all features"])
    assert truth > alone + 0.03
    assert elsewhere < alone + 0.02


def test_smoothing_is_that_of_dense_maths(graph: RawGraph) -> None:
    noisy, sample = report(graph, "2"), sample_attributes(graph, generator(0), most=100)
    dense = graph.adjacency.toarray().astype(float)
    degrees = dense.sum(axis=1)
    alone = np.flatnonzero(degrees == 0)
    dense[alone, alone] = 1
    degrees[alone] = 1
    operator = dense / np.sqrt(np.outer(degrees, degrees))
    signs = np.zeros((graph.nodes, graph.dimensions))
    np.put_along_axis(signs, noisy.dims.astype(int), noisy.signs.astype(float), axis=1)
    score = (signs + operator @ signs + operator @ operator @ signs)[sample.nodes, sample.dimensions].round(9)
    present, absent = score[sample.present, None], score[~sample.present]
    expected = ((present > absent) + (present == absent) / 2).mean()
    assert infer_from_neighbours(noisy, graph.adjacency, sample) == pytest.approx(expected, abs=1e-3)


def test_refusals(graph: RawGraph, secret: RawGraph) -> None:
    with pytest.raises(UserError, match="private"):
        sample_attributes(secret, generator(0))
    with pytest.raises(UserError, match="node features"):
        sample_attributes(replace(graph, features=None), generator(0))
    everybody = csr_array(np.ones(graph.features.shape, dtype=np.float32))  # type: ignore[union-attr]
    with pytest.raises(UserError, match="attribute inference"):
        sample_attributes(replace(graph, features=everybody), generator(0))
