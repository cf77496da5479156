"""What the models of one repeat share: graph, features, smoothing operator, labels and seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.curator.rectify import AffineSparse
from tasks.errors import UserError
from tasks.reports.label import LabelReport


@dataclass(frozen=True, eq=False)
class TrainingTargets:
    """What the loss compares with: ``nodes`` (n,) and ``probabilities`` (n, classes), one-hot for hard labels.

    Raises:
        UserError: for shapes that do not fit, or no node at all.
    """

    nodes: NDArray[np.int64]
    probabilities: NDArray[np.float64]

    def __post_init__(self) -> None:
        if len(self.nodes) == 0:
            raise UserError("no training node has a label; give a split with some")
        if self.probabilities.ndim != 2 or len(self.nodes) != len(self.probabilities):
            raise UserError("training targets: give one row of class probabilities per node")

    @classmethod
    def of_labels(cls, nodes: NDArray[np.int64], labels: NDArray[np.int64], classes: int) -> TrainingTargets:
        """Hard labels."""
        return cls(nodes, np.eye(classes)[labels])


@dataclass(frozen=True, eq=False)
class Problem:
    """One repeat of one (data set, eps_x, eps_a), calibrated and ready to train on.

    Attributes:
        graph: the graph in use (N, N), bits or weights in [0, 1], shared by all models; the support and the start of
            the joint method's weights.
        features: (N, d): rectified reports as constant + sparse, or a dense matrix that is public.
        labels: of the training and validation nodes.
        seed: of initial weights and dropout; None draws it from the operating system.
        smoothing: the operator S (N, N) of feature and label smoothing; needed when an l_x or l_y is above 0.
        targets: by l_y, where the training targets depend on it (Drop); other l_y train on the labels.

    Raises:
        UserError: for shapes that do not fit together.
    """

    graph: csr_array
    features: AffineSparse | NDArray[np.float32]
    labels: LabelReport
    seed: int | None
    smoothing: csr_array | None = None
    targets: Mapping[int, TrainingTargets] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nodes = self.features.shape[0]
        for name, matrix in (("graph", self.graph), ("smoothing operator", self.smoothing)):
            if matrix is not None and matrix.shape != (nodes, nodes):
                raise UserError(
                    f"the {name} has shape {matrix.shape} but the features have {nodes} rows; give one row per node"
                )
        for role, listed in (("training", self.labels.train_nodes), ("validation", self.labels.validation_nodes)):
            if len(listed) == 0:
                raise UserError(f"no {role} node has a label; give a split with some")
            if listed.max() >= nodes:
                raise UserError(f"{role} node {listed.max()} is not one of the graph's {nodes} nodes")
        for targets in self.targets.values():
            if targets.probabilities.shape[1] != self.labels.classes or targets.nodes.max() >= nodes:
                raise UserError("training targets: nodes or classes are not those of the problem")

    def operator(self) -> csr_array:
        """S, or nothing where no configuration smooths."""
        return csr_array(self.graph.shape) if self.smoothing is None else self.smoothing

    def training_targets(self, label_smoothing: int) -> TrainingTargets:
        """Targets of models with this l_y."""
        labels = self.labels
        return self.targets.get(label_smoothing) or TrainingTargets.of_labels(
            labels.train_nodes, labels.train_labels, labels.classes
        )
