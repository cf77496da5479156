from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.errors import UserError
from tasks.evaluation.graph_classification.graph_scoring import score_classes, score_partition


def test_classes_are_scored_on_the_test_graphs_alone() -> None:
    predictions = np.array([0, 0, 1, 1, 0, 1])
    scores = score_classes(predictions, np.array([2, 3, 4, 5]), np.array([1, 0, 0, 1]))
    assert scores["accuracy"] == 0.75
    assert scores["macro_f1"] == pytest.approx((2 / 3 + 4 / 5) / 2)
    for test, labels in ((np.array([], dtype=int), np.array([], dtype=int)), (np.array([1]), np.array([1, 0]))):
        with pytest.raises(UserError, match=f"^{test.size} .* {labels.size} "):
            score_classes(predictions, test, labels)


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_accuracy_of_a_partition_is_that_of_the_best_naming(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assignment, labels = rng.integers(4, size=20), rng.integers(4, size=20)
    best = max((np.array(names)[assignment] == labels).mean() for names in permutations(range(4)))
    assert score_partition(assignment, labels)["accuracy"] == pytest.approx(best)


def test_perfect_and_blind_partitions() -> None:
    labels = np.repeat([0, 1, 2], 10)
    assert score_partition((labels + 1) % 3, labels) == {"ari": 1.0, "nmi": pytest.approx(1.0), "accuracy": 1.0}
    blind = score_partition(np.zeros(30, dtype=int), labels)
    assert (blind["ari"], blind["nmi"]) == (0.0, pytest.approx(0.0))
    assert blind["accuracy"] == pytest.approx(1 / 3)
    more = score_partition(np.arange(30), labels)  # more clusters than classes: only three can be matched
    assert more["accuracy"] == pytest.approx(0.1)
    with pytest.raises(UserError, match=r"^3 .* 4 "):
        score_partition(np.zeros(3, dtype=int), np.zeros(4, dtype=int))
