"""Models of one repeat that differ in the optimiser's settings alone: they share every matrix and train in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.curator.engine.compiled.edges import Edges, Support
from tasks.curator.engine.compiled.masks import DropoutRanks
from tasks.curator.engine.compiled.operators import Csr, FirstOperators, first_operators
from tasks.curator.engine.problem import Problem
from tasks.models.architecture import Architecture
from tasks.models.propagation import Normalization, propagation_matrix


@dataclass(frozen=True, eq=False)
class SharedTensors:
    """What a block reads and never writes.

    Attributes:
        architecture: of every model.
        first: the first layer's operators.
        edges: the graph, where all models share it.
        support: of the weights that each model learns, where they do not.
        training_rows, targets: training nodes (n,) and their class probabilities (n, classes).
        senders: nodes whose logits send a gradient back: those, or all where the loss is smoothed.
        row_of: (N,) index of a node among the senders, -1 elsewhere.
        validation_rows, validation_labels: the nodes that choose.
        evaluations: the l_y with which every epoch's predictions are evaluated, ascending.
        loss_smoothing: the l_y inside the training loss.
        smooth, smooth_transposed: S where one of them is above 0.
        start: initial weights by name.
        ranks: of dropout.
    """

    architecture: Architecture
    first: FirstOperators
    edges: Edges
    support: Support | None
    training_rows: NDArray[np.int64]
    targets: NDArray[Any]
    senders: NDArray[np.int64]
    row_of: NDArray[np.int32]
    validation_rows: NDArray[np.int64]
    validation_labels: NDArray[np.int64]
    evaluations: tuple[int, ...]
    loss_smoothing: int
    smooth: Csr | None
    smooth_transposed: Csr | None
    start: dict[str, NDArray[np.float32]]
    ranks: DropoutRanks

    @property
    def nodes(self) -> int:
        """N."""
        return len(self.row_of)

    @property
    def dtype(self) -> Any:
        """Of all arithmetic."""
        return self.targets.dtype


def shared(
    problem: Problem,
    architecture: Architecture,
    normalization: Normalization,
    *,
    l_x: int,
    evaluations: tuple[int, ...],
    loss_smoothing: int,
    start: dict[str, NDArray[np.float32]],
    ranks: DropoutRanks,
    dtype: type,
    joint: bool,
) -> SharedTensors:
    """Lays out the arrays of the models with this l_x and these l_y."""
    matrix = propagation_matrix(problem.graph, architecture.backbone, normalization)
    targets = problem.training_targets(evaluations[0])
    senders = np.arange(matrix.shape[0]) if loss_smoothing else targets.nodes.astype(np.int64)
    loops = architecture.backbone == "gcn"
    support = None
    if joint:
        symmetric = loops and normalization == "symmetric"
        support = Support.of(problem.graph, loops=loops, symmetric=symmetric, dtype=dtype)
    row_of = np.full(matrix.shape[0], -1, dtype=np.int32)
    row_of[senders] = np.arange(len(senders))
    smoothed = max(evaluations) > 0
    return SharedTensors(
        architecture=architecture,
        first=first_operators(
            matrix,
            problem.features,
            problem.operator(),
            l_x,
            matrices=1 if loops else 2,
            dtype=dtype,
            alone=joint,
        ),
        edges=Edges.shared(matrix, senders, dtype),
        support=support,
        training_rows=targets.nodes.astype(np.int64),
        targets=np.ascontiguousarray(targets.probabilities, dtype=dtype),
        senders=senders,
        row_of=row_of,
        validation_rows=problem.labels.validation_nodes,
        validation_labels=problem.labels.validation_labels,
        evaluations=evaluations,
        loss_smoothing=loss_smoothing,
        smooth=Csr.of(problem.operator(), dtype) if smoothed else None,
        smooth_transposed=Csr.of(problem.operator().T, dtype) if loss_smoothing else None,
        start=start,
        ranks=ranks,
    )
