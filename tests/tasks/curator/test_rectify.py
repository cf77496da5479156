import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.client.multibit import encode_features
from tasks.curator.rectify import rectified
from tasks.reports.feature import FeatureReport
from tasks.seeds import generator


def report_on(features: np.ndarray, epsilon: str, bounds: tuple[float, float], seed: int = 0) -> FeatureReport:
    return encode_features(csr_array(features), bounds, epsilon, generator(seed), True, dataset="toy")


@pytest.mark.parametrize(("epsilon", "bounds"), [("0.5", (0.0, 1.0)), ("2", (-1.0, 3.0)), ("6.6", (0.0, 1.0))])
def test_the_estimate_is_unbiased_with_the_known_variance(epsilon: str, bounds: tuple[float, float]) -> None:
    low, high = bounds
    truth, users = low + np.linspace(0, 1, 6) * (high - low), 100_000
    report = report_on(np.tile(truth, (users, 1)), epsilon, bounds, seed=7)
    estimates = rectified(report).toarray()
    d, m = 6, report.sampled
    grown = math.exp(float(epsilon) / m)
    # E[x~^2] around the middle is scale^2 m/d, as |x^| = 1 with probability m/d.
    scale = d * (high - low) / (2 * m) * (grown + 1) / (grown - 1)
    variance = scale**2 * m / d - (truth - (high + low) / 2) ** 2
    z = (estimates.mean(axis=0) - truth) / np.sqrt(variance / users)
    assert np.abs(z).max() < 5.6
    assert estimates.var(axis=0) == pytest.approx(variance, rel=0.05)


def test_product_and_storage_stay_sparse() -> None:
    dense = (np.random.default_rng(1).random((200, 50)) < 0.2).astype(float)
    estimate = rectified(report_on(dense, "5", (0.0, 1.0)))
    assert estimate.shape == (200, 50)
    assert estimate.sparse.nnz == 200 * 2
    weights = np.random.default_rng(2).normal(size=(50, 7))
    np.testing.assert_allclose(estimate.matmul(weights), estimate.toarray() @ weights, rtol=1e-10, atol=1e-8)


def test_infinite_budget_gives_the_exact_values() -> None:
    dense = np.random.default_rng(3).random((30, 4))
    estimate = rectified(report_on(dense, "inf", (0.0, 1.0)))
    assert estimate.constant == 0.0
    assert (estimate.toarray() == dense).all()


def test_tiny_and_huge_budgets_stay_finite() -> None:
    dense = np.full((10, 3), 0.5)
    for epsilon in ("0.000001", "100000"):
        assert np.isfinite(rectified(report_on(dense, epsilon, (0.0, 1.0))).toarray()).all()
