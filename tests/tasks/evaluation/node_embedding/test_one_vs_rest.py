"""Against scikit-learn's Newton solver in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from tasks.evaluation.node_embedding.one_vs_rest import fit_one_vs_rest


def problem(nodes: int, dimensions: int, labels: int, scale: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Skewed features with a common offset, and labels from frequent to two of a kind."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(nodes, dimensions)) @ rng.normal(size=(dimensions, dimensions)) + rng.normal(
        size=dimensions
    )
    features = (scale * mixed).astype(np.float32)
    scores = mixed @ rng.normal(size=(dimensions, labels)) / dimensions + rng.logistic(size=(nodes, labels))
    kept = np.geomspace(nodes // 2, 2, labels).astype(int)
    ranks = np.argsort(np.argsort(-scores, axis=0), axis=0)
    return features, ranks < kept


@pytest.mark.parametrize("scale", [0.01, 0.3, 3.0, 50.0])
@pytest.mark.parametrize(("nodes", "dimensions"), [(400, 8), (60, 100)])
def test_every_label_has_scikit_learns_own_optimum(  # type: ignore[no-untyped-def]
    nodes: int, dimensions: int, scale: float, logistic_optimum
) -> None:
    features, present = problem(nodes, dimensions, 6, scale)
    found = fit_one_vs_rest(features, present).probabilities(features)
    for label, column in enumerate(present.T):
        expected, allowed = logistic_optimum(features, column, features)
        assert (np.abs(found[:, label] - expected) <= allowed).all()


def test_separable_and_constant_features_end(recwarn: pytest.WarningsRecorder) -> None:
    features = np.array([[-1, 5], [-1, 5], [1, 5], [1, 5]], np.float32) * 1e3
    present = features[:, :1] > 0
    found = fit_one_vs_rest(features, present).probabilities(features)
    assert ((found > 0.5) == present).all()
    flat = fit_one_vs_rest(np.zeros((4, 2), np.float32), np.array([[1], [0], [0], [0]], bool))
    np.testing.assert_allclose(flat.probabilities(np.zeros((1, 2))), 0.25, atol=1e-6)
    assert not recwarn.list


def test_the_number_of_threads_changes_no_byte() -> None:
    features, present = problem(900, 64, 20, 0.3)
    with threadpool_limits(2, "blas"):
        two = fit_one_vs_rest(features, present)
    with threadpool_limits(1, "blas"):
        one = fit_one_vs_rest(features, present)
    np.testing.assert_array_equal(two.weights, one.weights)
    np.testing.assert_array_equal(two.intercepts, one.intercepts)
