import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.errors import UserError
from tasks.evaluation.node_classification.scoring import score


def by_hand(predicted, truth):
    scores = []
    for label in set(predicted) | set(truth):
        both = np.sum((predicted == label) & (truth == label))
        scores.append(2 * both / (np.sum(predicted == label) + np.sum(truth == label)))
    return {"accuracy": np.mean(predicted == truth), "macro_f1": np.mean(scores)}


@given(seed=st.integers(0, 2**31), classes=st.integers(2, 5))
def test_scores_are_the_definitions_on_the_test_nodes_alone(seed, classes):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(30, classes)).astype(np.float32)
    nodes = rng.permutation(30)[:12]
    truth = rng.integers(classes, size=12)
    got = score(logits, nodes, truth, classes)
    assert got == pytest.approx(by_hand(logits[nodes].argmax(axis=1), truth))
    elsewhere = logits.copy()
    elsewhere[np.setdiff1d(np.arange(30), nodes)] = 0
    assert score(elsewhere, nodes, truth, classes) == got


@pytest.mark.parametrize(
    ("nodes", "labels", "classes", "named"),
    [
        ([0], [0], 2, r"\(4, 3\).* 2 "),
        ([], [], 3, "^0 .* 0 "),
        ([0, 1], [0], 3, "^2 .* 1 "),
        ([0], [-1], 3, r"0\.\.2"),
        ([0], [3], 3, r"0\.\.2"),
    ],
)
def test_what_does_not_fit_is_named(nodes, labels, classes, named):
    logits = np.zeros((4, 3), np.float32)
    with pytest.raises(UserError, match=named):
        score(logits, np.array(nodes, np.int64), np.array(labels, np.int64), classes)
