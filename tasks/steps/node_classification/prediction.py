"""In the evaluation: what a comparison of runs shows of a cell's predictions, beside its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tasks.curator.trained import Trained
from tasks.datasets.splits import Split
from tasks.evaluation.node_classification.confusion import confusion_matrix, matched_classes
from tasks.steps.graph_classification.embed_graphs import HISTORY, PREDICTIONS, WEIGHTS
from tasks.steps.raw_source import RawSource
from tasks.steps.split import SPLIT
from tasks.store import PointRef

Validation = tuple[float, float]
"""Accuracy, and loss with its sign changed: the larger the better."""


@dataclass(frozen=True)
class Prediction:
    """One repeat: its roles, and the point that predicts, in ``file``.

    ``file`` is a ``Trained`` (npz), or the predicted classes of all graphs (npy).
    """

    split: PointRef
    predicted: PointRef
    file: str = PREDICTIONS

    @property
    def classes(self) -> NDArray[np.int64]:
        """A class for every node or graph."""
        path = self.predicted.file(self.file)
        return np.load(path) if path.suffix == ".npy" else Trained.load(path).log_probabilities.argmax(axis=1)

    def confusion(self, labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
        """Of the test nodes or graphs."""
        test = Split.load(self.split.file(SPLIT)).test
        return confusion_matrix(self.classes[test], labels[test], classes)

    @property
    def model(self) -> Path | None:
        """The file of the network; None for a method that has none."""
        path = self.predicted.file(WEIGHTS if self.file == PREDICTIONS else self.file)
        return path if path.exists() else None

    @property
    def validation(self) -> Validation:
        """How the model did on the validation nodes or graphs: what it was chosen by."""
        if self.file == PREDICTIONS:
            history = pd.read_csv(self.predicted.file(HISTORY))
            return max(zip(history["validation_accuracy"], -history["validation_loss"], strict=True))
        trained = Trained.load(self.predicted.file(self.file))
        row = trained.search.iloc[trained.chosen]
        return float(row["validation_accuracy"]), -float(row["validation_loss"])


@dataclass(frozen=True)
class Clusters:
    """One repeat: the point that puts every graph into a cluster, as many as there are classes."""

    clustered: PointRef

    def confusion(self, labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
        """Of all graphs, a cluster standing for the class that the best match gives it."""
        # Imported now: with it come numba and the solvers of the study that clusters.
        from tasks.steps.ego_clustering.cluster_graphs import read_clusters

        return confusion_matrix(matched_classes(read_clusters(self.clustered), labels, classes), labels, classes)


Judged = Prediction | Clusters


def confusion_of(source: RawSource, repeats: Sequence[Judged]) -> NDArray[np.int64]:
    """Counts over the judged nodes or graphs of all repeats: row = true class, column = predicted class."""
    graph = source.load()
    labels, classes = graph.labels, graph.classes
    assert labels is not None  # they were scored
    counts = [repeat.confusion(labels, classes) for repeat in repeats]
    return np.sum(counts, axis=0)


def best_model(repeats: Sequence[Judged]) -> Path | None:
    """The model that did best on its own validation nodes or graphs, the first of equals; None where none has one."""
    trained = [repeat for repeat in repeats if isinstance(repeat, Prediction) and repeat.model]
    return max(trained, key=lambda repeat: repeat.validation).model if trained else None
