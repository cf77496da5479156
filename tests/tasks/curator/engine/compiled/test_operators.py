from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tasks.curator.engine.compiled.operators import Csr, first_operators
from tasks.curator.rectify import AffineSparse

RNG = np.random.default_rng(2)
GRAPH = sparse.random_array((20, 20), density=0.2, rng=RNG, format="csr")
SMOOTHING = sparse.random_array((20, 20), density=0.2, rng=RNG, format="csr")
FEW = sparse.csr_array((RNG.normal(size=20), RNG.integers(30, size=20), np.arange(21)), shape=(20, 30))
MANY = sparse.random_array((20, 300), density=0.05, rng=RNG, format="csr")


def dense(csr: Csr, shape: tuple[int, int]) -> np.ndarray:
    return sparse.csr_array((csr.values, csr.columns, csr.starts), shape=shape).toarray()


@pytest.mark.parametrize(("features", "steps", "fused"), [(FEW, 0, True), (MANY, 0, False), (FEW, 2, False)])
def test_few_cells_are_fused_with_the_graph_and_others_staged(features, steps, fused):
    operators = first_operators(GRAPH, AffineSparse(0.5, features), SMOOTHING, steps, matrices=2, dtype=np.float64)
    assert (operators.fused is not None) == fused and operators.steps == steps
    if fused:
        expected = np.hstack([features.toarray(), (GRAPH @ features).toarray()])
        np.testing.assert_allclose(dense(operators.fused, (20, 60)), expected)
        np.testing.assert_allclose(dense(operators.transposed[1], (30, 20)), expected[:, 30:].T)
    reach = np.linalg.matrix_power(SMOOTHING.toarray(), steps) @ np.ones(20)
    np.testing.assert_allclose(operators.row_scales, [reach, GRAPH @ reach])
    np.testing.assert_allclose(operators.reach, reach)


def test_edge_weights_that_change_need_the_graph_on_its_own():
    features = AffineSparse(0.5, FEW)
    assert first_operators(GRAPH, features, SMOOTHING, 0, matrices=1, dtype=np.float32, alone=True).fused is None


def test_dense_features_are_smoothed_once():
    given = RNG.normal(size=(20, 7)).astype(np.float32)
    operators = first_operators(GRAPH, given, SMOOTHING, 2, matrices=1, dtype=np.float64)
    np.testing.assert_allclose(operators.dense, SMOOTHING @ (SMOOTHING @ given), rtol=1e-6)
    assert operators.steps == 0 and operators.constant == 0.0
