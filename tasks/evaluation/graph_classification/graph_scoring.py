"""Scores of predicted classes of graphs, and of partitions, against held-out truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import accuracy_score, adjusted_rand_score, f1_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from tasks.errors import UserError


def score_classes(
    predictions: NDArray[np.int64], test: NDArray[np.int64], test_labels: NDArray[np.int64]
) -> dict[str, float]:
    """``accuracy`` and ``macro_f1`` on the test graphs, as fractions.

    Args:
        predictions: int64 (G,), a class for every graph.
        test: int64 (T,), the test graphs.
        test_labels: int64 (T,), their classes. A class neither present nor predicted there is left out of the mean F1.

    Raises:
        UserError: when there are no test graphs, or not a label for each.
    """
    if not len(test) or test.shape != test_labels.shape:
        raise UserError(f"{len(test)} test graphs with {len(test_labels)} labels; give every test graph one label")
    predicted = predictions[test]
    return {
        "accuracy": float(accuracy_score(test_labels, predicted)),
        "macro_f1": float(f1_score(test_labels, predicted, average="macro", zero_division=0)),
    }


def score_partition(assignment: NDArray[np.int64], labels: NDArray[np.int64]) -> dict[str, float]:
    """``ari``, ``nmi`` (arithmetic mean), and ``accuracy`` under the best one-to-one match of clusters and classes.

    Args:
        assignment: int64 (G,), the cluster of each graph.
        labels: int64 (G,), the class of each graph.

    Raises:
        UserError: when the two differ in length, or are empty.
    """
    if not len(labels) or assignment.shape != labels.shape:
        raise UserError(f"{len(assignment)} assigned graphs with {len(labels)} classes; give every graph both")
    counts = contingency_matrix(labels, assignment)
    matched = counts[linear_sum_assignment(counts, maximize=True)].sum()
    return {
        "ari": float(adjusted_rand_score(labels, assignment)),
        "nmi": float(normalized_mutual_info_score(labels, assignment)),
        "accuracy": float(matched / len(labels)),
    }
