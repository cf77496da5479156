from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.curator.calibration.label_propagation import propagate_labels
from tasks.curator.calibration.smoothing import smoothing_matrix
from tasks.errors import UserError

RNG = np.random.default_rng(0)
NODES = 90
CLASSES = RNG.integers(3, size=NODES)
CLASSES[:3] = range(3)
UPPER = np.triu(RNG.random((NODES, NODES)) < np.where(CLASSES[:, None] == CLASSES[None, :], 0.15, 0.01), 1)
GRAPH = csr_array((UPPER | UPPER.T).astype(np.int8))
OPERATOR = smoothing_matrix(GRAPH)


def test_many_steps_reach_the_closed_form(label_report) -> None:
    """F = (1 - alpha) (I - alpha S)^-1 Y, solved densely."""
    result = propagate_labels(OPERATOR, label_report(CLASSES, 40, 20, 3), alphas=[0.8], steps=[200])
    one_hot = np.zeros((NODES, 3))
    one_hot[np.arange(40), CLASSES[:40]] = 1
    limit = np.linalg.solve(np.eye(NODES) - 0.8 * OPERATOR.toarray(), one_hot)
    reached = limit.sum(axis=1) > 1e-9
    np.testing.assert_array_equal(result.log_probabilities.argmax(axis=1)[reached], limit.argmax(axis=1)[reached])


def test_it_predicts_the_communities_and_gives_probabilities(label_report) -> None:
    result = propagate_labels(OPERATOR, label_report(CLASSES, 40, 20, 3))
    assert (result.log_probabilities.argmax(axis=1)[60:] == CLASSES[60:]).mean() > 0.85
    np.testing.assert_allclose(np.exp(result.log_probabilities).sum(axis=1), 1, atol=1e-5)
    assert np.isfinite(result.log_probabilities).all() and result.log_probabilities.dtype == np.float32


def test_the_choice_is_by_validation_accuracy_then_loss(label_report) -> None:
    result = propagate_labels(OPERATOR, label_report(CLASSES, 40, 20, 3))
    columns = ["validation_accuracy", "validation_loss"]
    order = result.search.sort_values(columns, ascending=[False, True], kind="stable")
    assert result.chosen == order.index[0] and len(result.search) == 35
    rows = result.log_probabilities[40:60]
    chosen = result.search.iloc[result.chosen]
    assert chosen["validation_accuracy"] == (rows.argmax(axis=1) == CLASSES[40:60]).mean()
    assert chosen["validation_loss"] == pytest.approx(-rows[np.arange(20), CLASSES[40:60]].mean(), abs=1e-5)


def test_a_node_out_of_reach_takes_the_training_shares(label_report) -> None:
    lonely = smoothing_matrix(csr_array((4, 4), dtype=np.int8))
    labels = label_report(np.array([0, 0, 1, 1]), 3, 1, 2)
    likely = np.exp(propagate_labels(lonely, labels).log_probabilities)
    np.testing.assert_allclose(likely[3], [2 / 3, 1 / 3], atol=1e-3)
    assert (likely[:3].argmax(axis=1) == [0, 0, 1]).all()


def test_validation_labels_choose_and_do_nothing_else(label_report) -> None:
    other = CLASSES.copy()
    other[40:] = (other[40:] + 1) % 3
    results = [
        propagate_labels(OPERATOR, label_report(c, 40, 20, 3), alphas=[0.9], steps=[4]) for c in (CLASSES, other)
    ]
    np.testing.assert_array_equal(results[0].log_probabilities, results[1].log_probabilities)


@pytest.mark.parametrize("options", [{"alphas": []}, {"alphas": [1.0]}, {"steps": []}, {"steps": [0]}])
def test_impossible_choices_are_refused(label_report, options) -> None:
    with pytest.raises(UserError, match=r"alphas.*step"):
        propagate_labels(OPERATOR, label_report(CLASSES, 40, 20, 3), **options)
