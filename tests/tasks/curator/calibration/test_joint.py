from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tasks.curator.calibration.joint import JointPenalties, graph_step, penalty
from tasks.errors import UserError

RNG = np.random.default_rng(0)


def weights(*shape: int) -> torch.Tensor:
    return torch.from_numpy(RNG.random(shape))


@given(
    seed=st.integers(0, 10_000),
    lambda1=st.floats(1e-5, 1e-1),
    lambda2=st.floats(0, 1e-1),
    step=st.floats(0.01, 1e4),
)
@settings(max_examples=50)
def test_a_step_minimises_the_proximal_model(seed: int, lambda1: float, lambda2: float, step: float) -> None:
    """argmin over [0, 1] of g w + lambda1 d/dw-linearised distance + lambda2 w + (w - w0)^2 / (2 size), one by one."""
    rng = np.random.default_rng(seed)
    old, gradient = rng.random(4), rng.normal(size=4) * 0.05
    new = graph_step(torch.from_numpy(old), torch.from_numpy(gradient), lambda1, lambda2, step).numpy()
    size = min(step, 0.5 / lambda1)
    grid = np.linspace(0, 1, 100_001)
    for index in range(4):
        slope = gradient[index] + 2 * lambda1 * (old[index] - 1) + lambda2
        model = slope * (grid - old[index]) + (grid - old[index]) ** 2 / (2 * size)
        assert abs(grid[model.argmin()] - new[index]) < 2e-5


def test_weights_stay_in_the_unit_interval_whatever_the_gradient() -> None:
    new = graph_step(weights(50), torch.from_numpy(RNG.normal(size=50) * 1e6), 1e-3, 1e-2, 100.0)
    assert new.min() >= 0 and new.max() <= 1


def test_the_fixed_point_without_a_network_is_soft_thresholding() -> None:
    """With a zero gradient the steps end at max(0, 1 - lambda2 / (2 lambda1)), eq. 10 on every edge."""
    current = weights(6)
    for _ in range(200):
        current = graph_step(current, torch.zeros(6, dtype=torch.float64), 0.01, 0.008, 20.0)
    np.testing.assert_allclose(current, 1 - 0.008 / 0.02, atol=1e-12)


def test_other_reported_values_are_thresholded_from_where_they_are() -> None:
    reported, current = weights(6), torch.ones(6, dtype=torch.float64)
    for _ in range(200):
        current = graph_step(current, torch.zeros(6, dtype=torch.float64), 0.01, 0.008, 20.0, reported)
    np.testing.assert_allclose(current, np.maximum(0, reported - 0.4), atol=1e-12)
    assert penalty(current, 0.01, 0.008, reported) <= penalty(reported, 0.01, 0.008, reported)


def test_many_models_at_once_equal_one_at_a_time() -> None:
    old, gradient = weights(3, 8), weights(3, 8) - 0.5
    columns = [torch.tensor(values, dtype=torch.float64) for values in ([1e-4, 1e-3, 1e-2], [0, 1e-3, 1e-2], [1, 9, 2])]
    together = graph_step(old, gradient, *(column[:, None] for column in columns))
    alone = [graph_step(old[k], gradient[k], *(float(column[k]) for column in columns)) for k in range(3)]
    torch.testing.assert_close(together, torch.stack(alone))
    values = penalty(old, columns[0], columns[1])
    assert values.shape == (3,)


def test_steps_descend_to_the_minimum_of_a_known_objective() -> None:
    """A quadratic in the index of the network: the same minimum as a bounded solver finds."""
    target, curvature = RNG.random(10) * 2 - 0.5, RNG.random(10)
    lambda1, lambda2 = 0.05, 0.08

    def objective(w: np.ndarray) -> float:
        return float((curvature * (w - target) ** 2).sum() + penalty(torch.from_numpy(w), lambda1, lambda2))

    expected = minimize(objective, np.full(10, 0.5), bounds=[(0, 1)] * 10, tol=1e-14).x
    current, values = torch.ones(10, dtype=torch.float64), []
    for _ in range(500):
        gradient = torch.from_numpy(2 * curvature * (current.numpy() - target))
        current = graph_step(current, gradient, lambda1, lambda2, 0.4)
        values.append(objective(current.numpy()))
    np.testing.assert_allclose(current, expected, atol=1e-5)
    assert (np.diff(values) <= 1e-12).all()


@pytest.mark.parametrize("values", [{"lambda1": -1}, {"lambda2": float("inf")}, {"step_size": 0}, {"inner_steps": 0}])
def test_impossible_numbers_are_named(values: dict) -> None:
    with pytest.raises(UserError, match=next(iter(values))):
        JointPenalties(**({"lambda1": 1e-3, "lambda2": 1e-3} | values))
