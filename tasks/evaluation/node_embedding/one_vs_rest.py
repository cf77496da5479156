"""Logistic regressions for many labels at once, to convergence.

The problem of scikit-learn's ``LogisticRegression(C=1)`` for every label: the sum of the log-losses plus half the
squared norm of the weights, the intercept free. All labels take Newton steps together; the systems are solved by
conjugate gradients (truncated Newton: Nocedal and Wright, Numerical Optimization, section 7.1) in the eigenbasis of
the features' covariance, where one diagonal a label is a good preconditioner. What dominates are matrix products.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

TOLERANCE = 2e-6
STEPS = 50
INNER_STEPS = 40
HALVINGS = 20

Matrix = NDArray[np.float32]


class LinearModels(NamedTuple):
    """One model a label.

    Attributes:
        weights: float64 (d, L).
        intercepts: float64 (L,).
    """

    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]

    def probabilities(self, features: NDArray) -> NDArray[np.float64]:
        """Of every label, float64 (n, L)."""
        return expit(features @ self.weights + self.intercepts)


def fit_one_vs_rest(features: Matrix, present: NDArray[np.bool_]) -> LinearModels:
    """Fits every label until no mean gradient is above ``TOLERANCE``; the same bytes whatever the number of threads.

    Args:
        features: float32 (n, d).
        present: bool (n, L); every column must have both values.
    """
    with threadpool_limits(1, "blas"):  # sums over threads differ in their last bits
        return _fitted(features, present)


def _fitted(features: Matrix, present: NDArray[np.bool_]) -> LinearModels:
    nodes, dimensions = features.shape
    centre = features.mean(axis=0, dtype=np.float64)
    centred = (features - centre).astype(np.float32)
    spread, basis = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    inputs = np.hstack([centred @ basis.astype(np.float32), np.ones((nodes, 1), np.float32)])
    curvature = np.append(spread.clip(0), nodes).astype(np.float32)[:, None]
    penalty = np.append(np.ones(dimensions), 0).astype(np.float32)[:, None]

    truth, rate = present.astype(np.float32), present.mean(axis=0)
    weights = np.zeros((dimensions + 1, present.shape[1]), np.float32)
    weights[-1] = np.log(rate / (1 - rate))
    scores = inputs @ weights
    losses = _loss(scores, truth, weights, penalty)
    open_ = np.arange(present.shape[1])
    for _ in range(STEPS):
        likely = expit(scores[:, open_])
        gradient = inputs.T @ (likely - truth[:, open_]) + penalty * weights[:, open_]
        going = np.abs(gradient).max(axis=0) > TOLERANCE * nodes
        open_, likely, gradient = open_[going], likely[:, going], gradient[:, going]
        if not len(open_):
            break
        step = _newton_step(inputs, likely * (1 - likely), gradient, curvature, penalty)
        change, share = inputs @ step, np.ones(len(open_), np.float32)
        slope = (gradient * step).sum(axis=0)
        for _ in range(HALVINGS):
            tried = _loss(scores[:, open_] + share * change, truth[:, open_], weights[:, open_] + share * step, penalty)
            # The last term is what float32 cannot tell apart.
            worse = tried > losses[open_] + 1e-4 * share * slope + 1e-6 * losses[open_]
            if not worse.any():
                break
            share[worse] /= 2
        weights[:, open_] += share * step
        scores[:, open_] += share * change
        losses[open_] = tried
    back = basis @ weights[:-1].astype(np.float64)
    return LinearModels(back, weights[-1] - centre @ back)


def _loss(scores: Matrix, truth: Matrix, weights: Matrix, penalty: Matrix) -> NDArray[np.float64]:
    loss = np.logaddexp(np.float32(0), scores) - truth * scores
    return loss.sum(axis=0, dtype=np.float64) + (penalty * weights**2).sum(axis=0, dtype=np.float64) / 2


def _newton_step(inputs: Matrix, variance: Matrix, gradient: Matrix, curvature: Matrix, penalty: Matrix) -> Matrix:
    """Solves (inputs' diag(variance) inputs + penalty) step = -gradient, a column a label, to a tenth."""
    diagonal = variance.mean(axis=0) * curvature + penalty
    step, residual = np.zeros_like(gradient), -gradient
    direction = residual / diagonal
    size = (residual * direction).sum(axis=0)
    goal = 0.01 * size
    for _ in range(INNER_STEPS):
        image = inputs.T @ (variance * (inputs @ direction)) + penalty * direction
        length = size / (direction * image).sum(axis=0)
        step += length * direction
        residual -= length * image
        scaled = residual / diagonal
        before, size = size, (residual * scaled).sum(axis=0)
        if (size <= goal).all():
            break
        direction = scaled + size / before * direction
    return step
