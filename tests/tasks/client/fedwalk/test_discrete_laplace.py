from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chisquare, dlaplace

from tasks.client.fedwalk.discrete_laplace import with_discrete_laplace
from tasks.errors import UserError
from tasks.evaluation.audits.lower_bound import audit_epsilon
from tasks.seeds import generator


def draws(epsilon: str, sensitivity: int, count: int, seed: int, value: int = 0) -> np.ndarray:
    values = np.full(count, value, dtype=np.int64)
    return with_discrete_laplace(values, epsilon, sensitivity=sensitivity, rng=generator(seed))


@pytest.mark.parametrize(("epsilon", "sensitivity"), [("0.25", 1), ("1", 1), ("1", 2), ("2.5", 1), ("7.3", 2)])
def test_the_law_is_the_discrete_laplace_law(epsilon: str, sensitivity: int):
    count = 200_000
    law = dlaplace(float(epsilon) / sensitivity)
    reach = int(law.ppf(1 - 25 / count))
    inside = np.arange(-reach, reach + 1)
    noise = draws(epsilon, sensitivity, count, 3)
    observed = np.concatenate([[np.sum(noise == z) for z in inside], [np.sum(abs(noise) > reach)]])
    expected = np.concatenate([law.pmf(inside), [1 - law.pmf(inside).sum()]]) * count
    assert chisquare(observed, expected).pvalue > 1e-4


def test_infinite_budget_is_the_identity():
    values = np.arange(6, dtype=np.int64).reshape(2, 3)
    noisy = with_discrete_laplace(values, "inf", sensitivity=1, rng=generator(1))
    assert np.array_equal(noisy, values)
    assert noisy is not values


def test_a_seed_gives_the_same_noise_and_shapes_are_kept():
    values = np.zeros((4, 5), dtype=np.int64)
    first, second = (with_discrete_laplace(values, "0.7", sensitivity=1, rng=generator(5)) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.shape == values.shape


def test_devices_that_draw_in_turn_draw_what_all_draw_at_once():
    rng = generator(5)
    one_by_one = [with_discrete_laplace(np.zeros(1, dtype=np.int64), "0.7", sensitivity=1, rng=rng) for _ in range(50)]
    assert np.array_equal(np.concatenate(one_by_one), draws("0.7", 1, 50, 5))


def test_the_audit_finds_the_budget_and_not_more():
    result = audit_epsilon(draws("1", 1, 400_000, 1), draws("1", 1, 400_000, 2, value=1))
    assert 0.9 < result.lower_bound <= 1.0


def test_a_budget_with_too_many_digits_is_refused():
    with pytest.raises(UserError, match=r"0\.3333333333333333333"):
        draws("0.3333333333333333333", 1, 1, 1)


def test_variance_of_a_small_budget():
    q = math.exp(-0.01)
    assert draws("0.01", 1, 100_000, 4).var() == pytest.approx(2 * q / (1 - q) ** 2, rel=0.05)
