from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from sklearn import metrics

from tasks.errors import UserError
from tasks.evaluation.node_classification.confusion import confusion_csv, confusion_matrix, matched_classes


def test_it_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    predicted, labels = rng.integers(5, size=(2, 200))
    ours = confusion_matrix(predicted, labels, 6)
    np.testing.assert_array_equal(ours, metrics.confusion_matrix(labels, predicted, labels=range(6)))


def test_nothing_is_a_matrix_of_zeros() -> None:
    assert confusion_matrix(np.zeros(0, np.int64), np.zeros(0, np.int64), 2).tolist() == [[0, 0], [0, 0]]


def test_clusters_stand_for_the_classes_that_agree_most() -> None:
    rng = np.random.default_rng(1)
    clusters, labels = rng.integers(4, size=(2, 60))
    best = max(permutations(range(4)), key=lambda names: (np.array(names)[clusters] == labels).sum())
    agreed = (matched_classes(clusters, labels, 4) == labels).sum()
    assert agreed == (np.array(best)[clusters] == labels).sum()
    # A class that no graph has, and a cluster that holds none, are matched too.
    assert matched_classes(np.array([2, 2, 0]), np.array([0, 0, 1]), 3).tolist() == [0, 0, 1]


def test_the_table_names_both_axes() -> None:
    assert confusion_csv(np.array([[3, 1], [0, 2]])) == "true class,predicted 0,predicted 1\n0,3,1\n1,0,2\n"


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UserError, match=r"^1 .* 2 "):
        confusion_matrix(np.array([0]), np.array([0, 1]), 2)
    for predicted, label in ((2, 0), (0, -1)):
        with pytest.raises(UserError, match=r"0\.\.1"):
            confusion_matrix(np.array([predicted]), np.array([label]), 2)
