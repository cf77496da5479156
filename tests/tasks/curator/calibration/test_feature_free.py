from __future__ import annotations

import numpy as np
from scipy.stats import kstest

from tasks.curator.calibration.feature_free import constant_features, random_features


def test_random_features_are_standard_gaussians_and_public() -> None:
    first, again, other = (random_features(300, 40, seed) for seed in (1, 1, 2))
    assert first.shape == (300, 40) and first.dtype == np.float32
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert kstest(first.ravel(), "norm").pvalue > 1e-4


def test_random_features_separate_nodes_evenly() -> None:
    """Independent rows: inner products of different nodes are small beside the squared lengths."""
    rows = random_features(50, 2000, 3)
    products = rows @ rows.T / 2000
    np.testing.assert_allclose(products, np.eye(50), atol=0.15)


def test_constant_features_fill_the_matrix_and_store_nothing() -> None:
    features = constant_features(5, 7)
    assert features.sparse.nnz == 0
    np.testing.assert_array_equal(features.toarray(), np.ones((5, 7)))
