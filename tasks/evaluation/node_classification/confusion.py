"""Which classes a prediction mixes up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError


def confusion_matrix(predicted: NDArray[np.int64], labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Counts (classes, classes): row = true class, column = predicted class.

    Args:
        predicted: (T,) classes of the test nodes or graphs.
        labels: (T,) their true classes.
        classes: C.

    Raises:
        UserError: when the two differ in length, or a class lies outside 0..C-1.
    """
    if predicted.shape != labels.shape:
        raise UserError(f"{len(predicted)} predictions with {len(labels)} labels; give every prediction one label")
    both = np.concatenate([predicted, labels])
    if len(both) and not 0 <= both.min() <= both.max() < classes:
        raise UserError(f"a class lies outside 0..{classes - 1}")
    return np.bincount(labels * classes + predicted, minlength=classes * classes).reshape(classes, classes)


def matched_classes(clusters: NDArray[np.int64], labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """The class of each graph (G,) under the one-to-one match of C clusters and C classes that agrees most.

    Raises:
        UserError: as ``confusion_matrix``.
    """
    from scipy.optimize import linear_sum_assignment  # imported on demand: every study that is tracked imports this

    of_cluster = np.empty(classes, dtype=np.int64)
    matched, found = linear_sum_assignment(confusion_matrix(clusters, labels, classes), maximize=True)
    of_cluster[found] = matched
    return of_cluster[clusters]


def confusion_csv(counts: NDArray[np.int64]) -> str:
    """One line for each true class, one column for each predicted one."""
    classes = range(len(counts))
    lines = [",".join(["true class", *(f"predicted {column}" for column in classes)])]
    lines += [",".join(map(str, [row, *counts[row].tolist()])) for row in classes]
    return "\n".join(lines) + "\n"
