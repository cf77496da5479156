from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from tasks.evaluation.node_embedding.one_vs_rest import TOLERANCE

Optimum = Callable[[NDArray, NDArray, NDArray], tuple[NDArray, NDArray]]


@pytest.fixture
def logistic_optimum() -> Optimum:
    """scikit-learn's probabilities at ``points`` in double precision, and how far a fit may be from them.

    A fit ends with a gradient g of at most ``TOLERANCE`` a node in any direction, plus what float32 rounds away in the
    sums. Its weights are then H^-1 g off the optimum, with the Hessian H there, and a probability q of a point x is
    off by q (1 - q) |x' H^-1 g|. Twice that is allowed, for the higher orders.
    """

    def optimum(features: NDArray, present: NDArray, points: NDArray) -> tuple[NDArray, NDArray]:
        features, points = features.astype(np.float64), points.astype(np.float64)
        model = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(features, present)
        centre = features.mean(axis=0)
        inputs, places = (np.column_stack([x - centre, np.ones(len(x))]) for x in (features, points))
        likely, expected = (model.predict_proba(x)[:, 1] for x in (features, points))
        hessian = inputs.T @ ((likely * (1 - likely))[:, None] * inputs) + np.diag([1.0] * features.shape[1] + [0.0])
        rounded = np.finfo(np.float32).eps * np.linalg.norm(np.abs(inputs).sum(axis=0))
        gradient = TOLERANCE * len(features) * np.sqrt(len(hessian)) + rounded
        reach = np.linalg.norm(np.linalg.solve(hessian, places.T), axis=0)
        return expected, 2 * expected * (1 - expected) * reach * gradient + np.finfo(np.float32).eps

    return optimum
