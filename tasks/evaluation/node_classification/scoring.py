"""Scores of predictions against held-out labels: the only place that reads test labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score

from tasks.errors import UserError


def score(
    log_probabilities: NDArray[np.float32], test_nodes: NDArray[np.int64], test_labels: NDArray[np.int64], classes: int
) -> dict[str, float]:
    """``accuracy`` and ``macro_f1`` on the test nodes, as fractions.

    Args:
        log_probabilities: (N, classes).
        test_nodes: (T,) node ids.
        test_labels: (T,) their classes.
        classes: C. A class that is neither present nor predicted on the test nodes is left out of the mean F1.

    Raises:
        UserError: when shapes or labels do not fit.
    """
    if log_probabilities.ndim != 2 or log_probabilities.shape[1] != classes:
        raise UserError(f"predictions of shape {log_probabilities.shape} do not fit {classes} classes")
    if len(test_nodes) == 0 or test_nodes.shape != test_labels.shape:
        raise UserError(f"{len(test_nodes)} test nodes with {len(test_labels)} labels; give every test node one label")
    if test_labels.min() < 0 or test_labels.max() >= classes:
        raise UserError(f"a test label lies outside 0..{classes - 1}; nodes without a label belong to no split")
    predicted = log_probabilities[test_nodes].argmax(axis=1)
    return {
        "accuracy": float(accuracy_score(test_labels, predicted)),
        "macro_f1": float(f1_score(test_labels, predicted, average="macro", zero_division=0)),
    }
