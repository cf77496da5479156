from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from tasks.curator.calibration.structure import soft_thresholded
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.node_classification.denoising import denoising

RNG = np.random.default_rng(0)
TRIANGLE = np.triu(RNG.random((40, 40)) < 0.1, 1)
TRUTH = (TRIANGLE | TRIANGLE.T).astype(np.int8)


@pytest.mark.parametrize("penalty", [0.0, 0.3, 1.0, 1.99, 2.0, 5.0])
def test_it_is_the_minimiser_of_eq_10(penalty: float) -> None:
    """Every entry by a numerical search on [0, 2], where the absolute value is the identity."""
    reported = (RNG.random((5, 5)) < 0.4).astype(np.int8)
    expected = np.array([
        minimize(lambda w, bit=bit: (bit - w[0]) ** 2 + penalty * abs(w[0]), [0.4], bounds=[(0, 2)]).x[0]
        for bit in reported.ravel()
    ]).reshape(5, 5)  # fmt: skip
    np.testing.assert_allclose(soft_thresholded(csr_array(reported), penalty).toarray(), expected, atol=1e-5)


@pytest.mark.parametrize("penalty", [0.0, 0.5, 1.9, 2.5])
def test_it_cannot_tell_noise_from_truth(edge_report, penalty: float) -> None:
    report = edge_report(TRUTH, "2")
    graph = RawGraph(name="toy", adjacency=csr_array(TRUTH), private=False)
    cleaned = soft_thresholded(report.adjacency(), penalty)
    assert len(np.unique(cleaned.data)) <= 1
    assert denoising(graph, report, cleaned).auc == 0.5


def test_a_negative_penalty_is_refused() -> None:
    with pytest.raises(UserError, match="lambda -1"):
        soft_thresholded(csr_array((2, 2)), -1)
