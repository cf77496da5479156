"""The audit itself; what it says about the mechanisms, and about deliberately wrong ones, is in ``audits``."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from tasks.errors import UserError
from tasks.evaluation.audits.lower_bound import audit_epsilon, clopper_pearson


def coins(probability: float, draws: int, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random(draws) < probability).astype(np.int64)


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (3, 10), (10, 10), (400, 1000)])
def test_limits_have_the_stated_risk(successes: int, trials: int) -> None:
    low, high = clopper_pearson(successes, trials, 0.01)
    assert low == 0 if successes == 0 else binom.sf(successes - 1, trials, low) == pytest.approx(0.01)
    assert high == 1 if successes == trials else binom.cdf(successes, trials, high) == pytest.approx(0.01)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_true_claims_pass_and_most_of_them_is_seen(epsilon: float) -> None:
    p = 1 / (1 + math.exp(epsilon))
    result = audit_epsilon(coins(1 - p, 100_000, 1), coins(p, 100_000, 2))
    assert 0.7 * epsilon < result.lower_bound <= epsilon
    assert result.draws == 100_000


def test_false_alarms_keep_to_the_confidence() -> None:
    p, alarms = 1 / (1 + math.e), 0
    for seed in range(300):
        result = audit_epsilon(coins(1 - p, 2000, 2 * seed), coins(p, 2000, 2 * seed + 1), confidence=0.9)
        alarms += result.lower_bound > 1
    assert alarms <= binom.isf(1e-6, 300, 0.1)


def test_equal_inputs_show_nothing_and_impossible_outputs_show_much() -> None:
    assert audit_epsilon(coins(0.4, 20_000, 1), coins(0.4, 20_000, 2)).lower_bound < 0.05
    never = audit_epsilon(coins(0.0, 20_000, 1), coins(0.2, 20_000, 2))
    assert never.reversed
    assert never.lower_bound > 5
    assert audit_epsilon(coins(0.0, 20_000, 1), coins(0.2, 20_000, 2), delta=0.3).lower_bound == 0
    more = audit_epsilon(coins(0.2, 20_000, 1), coins(0.6, 20_000, 2), mechanisms=10).lower_bound
    assert 0 < more < audit_epsilon(coins(0.2, 20_000, 1), coins(0.6, 20_000, 2)).lower_bound
    with pytest.raises(UserError):
        audit_epsilon(coins(0.5, 10, 1), coins(0.5, 11, 2))


def test_outcomes_that_lead_the_ranking_by_luck_are_not_the_event() -> None:
    """A coin of ln 3 blurred over 256 outcomes: ranked and chosen on the same draws, a handful of rare ones won."""
    first, second = (coins(p, 100_000, seed) for seed, p in ((1, 0.75), (2, 0.25)))
    blur = np.random.default_rng(3).integers(256, size=(2, 100_000))
    result = audit_epsilon(2 * blur[0] + first, 2 * blur[1] + second)
    assert 0.95 * math.log(3) < result.lower_bound <= math.log(3)
