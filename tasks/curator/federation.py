"""The curator's part of federated training: broadcast, average, and choose a round by the clients' validation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np
import pandas as pd
import torch

from tasks.broadcasts.weights import ModelWeights
from tasks.curator.hyper_parameters import ValidationScore
from tasks.errors import UserError
from tasks.models.graph_architecture import GraphArchitecture, initial_vector
from tasks.reports.model_update import ModelUpdate, ValidationCounts
from tasks.seeds import generator

HISTORY_COLUMNS = ("round", "clients", "examples", "validation_accuracy", "validation_loss")


def initial_weights(architecture: GraphArchitecture, seed: int | None) -> ModelWeights:
    """The first broadcast."""
    torch_seed = int(generator(seed).integers(2**63))
    return ModelWeights(architecture, 0, initial_vector(architecture, torch.Generator().manual_seed(torch_seed)))


def federated_average(weights: ModelWeights, updates: Sequence[ModelUpdate]) -> ModelWeights:
    """FedAvg: the mean of the updates weighted by their examples, summed in float64.

    Batch-norm statistics are averaged like weights: the mean of variances leaves out the spread between clients.
    When nobody trained, the weights stay as they are.

    Raises:
        UserError: when an update belongs to another round or network, or the training diverged.
    """
    for update in updates:
        if update.round != weights.round or update.values.shape != weights.values.shape:
            raise UserError(
                f"client {update.client}: its update does not answer the broadcast of round {weights.round}"
            )
    sizes = np.array([update.examples for update in updates], dtype=np.float64)
    values = weights.values
    if sizes.sum():
        stacked = np.stack([update.values for update in updates]).astype(np.float64)
        values = (sizes / sizes.sum() @ stacked).astype(np.float32)
    return ModelWeights(weights.architecture, weights.round + 1, values)


class Federation:
    """One training: the weights to broadcast next, the best so far, and the history.

    Attributes:
        weights: the next broadcast.
        best_model: the broadcast with the best pooled validation (accuracy, then loss; the earlier on a tie). Before
            any client has validated, and when none can, the latest weights.
    """

    def __init__(self, first: ModelWeights) -> None:
        self.weights = self.best_model = first
        self._best: ValidationScore | None = None
        self._rows: list[tuple[float, ...]] = []

    @property
    def history(self) -> pd.DataFrame:
        """One row per broadcast with ``HISTORY_COLUMNS``: who answered, and how it validated (NaN without graphs)."""
        return pd.DataFrame(self._rows, columns=list(HISTORY_COLUMNS))

    def receive(self, updates: Sequence[ModelUpdate]) -> None:
        """Ends a round: judges the broadcast by the answers and averages them into the next one."""
        self._judge([update.validation for update in updates], len(updates), sum(u.examples for u in updates))
        self.weights = federated_average(self.weights, updates)
        if self._best is None:
            self.best_model = self.weights

    def close(self, counts: Sequence[ValidationCounts]) -> None:
        """Judges the last weights, which nobody trains any more."""
        self._judge(counts, len(counts), 0)

    def _judge(self, counts: Sequence[ValidationCounts], clients: int, examples: int) -> None:
        pooled = reduce(add, counts, ValidationCounts())
        accuracy = loss = float("nan")
        if pooled.examples:
            accuracy, loss = pooled.hits / pooled.examples, pooled.loss / pooled.examples
            score = ValidationScore(accuracy, loss)
            if score.beats(self._best):
                self._best, self.best_model = score, self.weights
        self._rows.append((self.weights.round, clients, examples, accuracy, loss))
