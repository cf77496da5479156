"""Label propagation (Zhou et al., NIPS 2003): the graph and the training labels alone, no features and no network."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.curator.hyper_parameters import ValidationScore
from tasks.errors import UserError
from tasks.reports.label import LabelReport

ALPHAS = (0.5, 0.8, 0.9, 0.95, 0.99)
STEPS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Propagated:
    """Predictions of the chosen configuration.

    Attributes:
        log_probabilities: (N, classes) float32.
        search: one row per configuration: alpha, steps, validation_accuracy, validation_loss.
        chosen: the row taken.
    """

    log_probabilities: NDArray[np.float32]
    search: pd.DataFrame
    chosen: int


def propagate_labels(
    operator: csr_array,
    labels: LabelReport,
    *,
    alphas: Sequence[float] = ALPHAS,
    steps: Sequence[int] = STEPS,
) -> Propagated:
    """Repeats F <- alpha S F + (1 - alpha) Y from F = Y, the one-hot training labels; chooses alpha and steps.

    A node that no training label reaches takes the class shares of the training nodes. The choice is by validation
    accuracy, ties by loss; validation labels never enter Y.

    Args:
        operator: S (N, N), as ``smoothing_matrix`` makes it.
        labels: training and validation labels.
        alphas: weights of the neighbours against the node's own label, in (0, 1).
        steps: numbers of repetitions.

    Raises:
        UserError: for an empty or impossible choice.
    """
    if not alphas or not steps or min(steps) < 1 or not all(0 < alpha < 1 for alpha in alphas):
        raise UserError("label propagation: give alphas strictly between 0 and 1 and at least one positive step count")
    one_hot = np.zeros((operator.shape[0], labels.classes))
    one_hot[labels.train_nodes, labels.train_labels] = 1.0
    shares = one_hot.sum(axis=0) / len(labels.train_nodes)
    best: ValidationScore | None = None
    rows: list[tuple[float, ...]] = []
    chosen, probabilities = 0, one_hot
    for alpha in alphas:
        spread = one_hot
        for before, count in itertools.pairwise((0, *sorted(set(steps)))):
            for _ in range(count - before):
                spread = alpha * (operator @ spread) + (1 - alpha) * one_hot
            likely = _probabilities(spread, shares)
            score = _validate(likely, labels)
            if score.beats(best):
                best, chosen, probabilities = score, len(rows), likely
            rows.append((alpha, count, score.accuracy, score.loss))
    columns = ["alpha", "steps", "validation_accuracy", "validation_loss"]
    return Propagated(np.log(probabilities).astype(np.float32), pd.DataFrame(rows, columns=columns), chosen)


def _probabilities(spread: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows as probabilities, none of them zero: a hundredth of every row is the class shares, of an empty row all."""
    mass = spread.sum(axis=1, keepdims=True)
    own = np.divide(spread, mass, out=np.zeros_like(spread), where=mass > 0)
    floor = (shares + 1e-3) / (shares + 1e-3).sum()
    return np.where(mass > 0, 0.99 * own + 0.01 * floor, floor)


def _validate(likely: NDArray[np.float64], labels: LabelReport) -> ValidationScore:
    rows = likely[labels.validation_nodes]
    hits = float(np.mean(rows.argmax(axis=1) == labels.validation_labels))
    loss = float(-np.log(rows[np.arange(len(rows)), labels.validation_labels]).mean())
    return ValidationScore(hits, loss)
