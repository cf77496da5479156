"""The audit itself, and what it says about the mechanisms and about deliberately broken ones."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import binom

from tasks.client.multibit import encode_features
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.errors import UserError
from tasks.evaluation.audit import audit_epsilon, clopper_pearson
from tasks.seeds import generator

DRAWS = 60_000


def coins(probability: float, draws: int, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random(draws) < probability).astype(np.int64)


def neighbour_lists(bit: int, epsilon: str, seed: int) -> np.ndarray:
    """The report on one bit of the list, over many draws; the user is one of many rows with the same list.

    Rows are independent users, so each row is a draw. The differing bit is summarised with a bit that never differs.
    """
    users = 300
    rows = np.zeros((users, users), dtype=np.int8)
    rows[:, 1] = bit
    rng, graph = generator(seed), csr_array(rows)
    outputs = []
    for _ in range(DRAWS // users):
        report = randomise_neighbour_lists(graph, epsilon, "directed", rng, 1e4, True, dataset="toy")
        reported = csr_array((np.ones(len(report.indices)), report.indices, report.indptr), shape=rows.shape)
        outputs.append((reported[:, [1]].toarray() + 2 * reported[:, [2]].toarray()).astype(np.int64).ravel())
    return np.concatenate(outputs)


def feature_vectors(ones: bool, epsilon: str, seed: int, dimensions: int = 4) -> np.ndarray:
    """All of a user's report as one integer: (dimension, sign) pairs in base 2d."""
    features = csr_array(np.full((4 * DRAWS, dimensions), float(ones)))
    report = encode_features(features, (0.0, 1.0), epsilon, generator(seed), True, dataset="toy")
    digits = 2 * report.dims.astype(np.int64) + (report.signs == 1)
    return digits @ (2 * dimensions) ** np.arange(report.sampled)


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
    with pytest.raises(UserError, match="one length"):
        audit_epsilon(coins(0.5, 10, 1), coins(0.5, 11, 2))


@pytest.mark.parametrize("epsilon", ["1", "2"])
def test_randomised_response_spends_what_it_claims(epsilon: str) -> None:
    result = audit_epsilon(neighbour_lists(1, epsilon, 3), neighbour_lists(0, epsilon, 4))
    assert 0.85 * float(epsilon) < result.lower_bound <= float(epsilon)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
def test_multi_bit_spends_what_it_claims(epsilon: str) -> None:
    result = audit_epsilon(feature_vectors(True, epsilon, 5), feature_vectors(False, epsilon, 6))
    assert 0.85 * float(epsilon) < result.lower_bound <= float(epsilon)


def test_several_signs_compose_to_the_whole_budget() -> None:
    result = audit_epsilon(feature_vectors(True, "4.4", 7), feature_vectors(False, "4.4", 8))
    assert 0.85 * 4.4 < result.lower_bound <= 4.4


def test_list_and_features_together_spend_the_sum() -> None:
    first = feature_vectors(True, "1", 17)[:DRAWS] * 4 + neighbour_lists(1, "1", 18)
    second = feature_vectors(False, "1", 19)[:DRAWS] * 4 + neighbour_lists(0, "1", 20)
    result = audit_epsilon(first, second)
    assert 0.85 * 2 < result.lower_bound <= 2


def test_broken_mechanisms_are_caught() -> None:
    twice = audit_epsilon(neighbour_lists(1, "2", 9), neighbour_lists(0, "2", 10))
    assert twice.lower_bound > 1  # claimed 1, spent 2
    drawn_again = [neighbour_lists(bit, "1", 11 + bit) | neighbour_lists(bit, "1", 13 + bit) for bit in (1, 0)]
    assert audit_epsilon(*drawn_again).lower_bound > 1  # two reports OR-ed, claimed as one
    own_bounds = [np.zeros(DRAWS, dtype=np.int64), coins(1 / (1 + math.e), DRAWS, 15)]
    assert audit_epsilon(*own_bounds).lower_bound > 1  # bounds from the data: a constant column is never sent
