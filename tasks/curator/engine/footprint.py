"""How much memory the engine needs, from sizes alone: to plan a run and to say so before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from tasks.curator.engine.problem import Problem
from tasks.curator.rectify import AffineSparse
from tasks.models.architecture import Architecture

MEGABYTE = 10**6


@dataclass(frozen=True)
class Footprint:
    """Bytes: ``shared`` by the models of a group (matrices, dropout), ``model`` for each model in a block."""

    shared: int
    model: int

    def run(self, slots: int, workers: int) -> int:
        """Of ``workers`` blocks that train at a time, each possibly of another group."""
        return workers * (self.shared + slots * self.model)


def footprint(
    problem: Problem,
    architecture: Architecture,
    *,
    epochs: int,
    l_x: int,
    l_y: int,
    smooth_loss: bool,
    joint: bool,
    itemsize: int,
) -> Footprint:
    """Upper estimate for models of this l_x and l_y."""
    nodes, dimensions = problem.features.shape
    matrices = 1 if architecture.backbone == "gcn" else 2
    hidden, classes = architecture.hidden, architecture.classes
    sparse = isinstance(problem.features, AffineSparse)
    entries = problem.graph.nnz + nodes
    staged = l_x > 0 or not sparse or joint
    # A CSR and its transpose; the fused product of features and graph is bounded by the rule that chooses it.
    stored = 5 * entries if staged else 4 * entries
    if isinstance(problem.features, AffineSparse):
        stored += 2 * (2 if staged else 3) * matrices * problem.features.sparse.nnz
    if problem.smoothing is not None and (l_x or l_y):
        stored += 4 * problem.smoothing.nnz
    shared = stored * (4 + itemsize) + epochs * nodes * hidden
    if not sparse:
        shared += nodes * dimensions * itemsize
    rows = nodes if smooth_loss and l_y else len(problem.labels.train_nodes)
    numbers = 3 * matrices * dimensions * hidden + (3 + 2 * matrices * staged) * nodes * hidden
    numbers += matrices * rows * hidden + (3 * nodes if l_y else len(problem.labels.validation_nodes)) * classes
    if not sparse:
        numbers += dimensions * hidden
    if joint:
        numbers += 5 * entries + 2 * nodes
    return Footprint(shared, numbers * itemsize)
