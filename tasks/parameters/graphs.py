"""The sections of params.yaml for studies of reported graph embeddings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tasks.parameters.values import Budget, Count, Distinct, GraphBudget, Positive, Section, Share
from tasks.reports.encoders import Encoder


class Solver(Section):
    """The Gromov-Wasserstein solver: what it does (``starts``) and how it is run."""

    starts: Count = 2
    """The least of so many local minima is taken."""
    threads: Count | None = 1
    """Threads that solve pairs side by side; empty for one for each core."""
    block: Count = 65536
    """Pairs that are solved and stored together, so that a killed run goes on from there."""


class EmbeddedGraphs(Section):
    """What studies of reported graph embeddings share: federated training, encoders and budgets, the solver.

    ``concentration`` is of the Dirichlet draw that deals graphs to clients by class; ``absence`` the chance that a
    client misses a round.
    """

    encoders: Annotated[list[Encoder], Field(min_length=1), Distinct] = ["per_row"]
    """Mechanisms of an embedding; ``gaussian_scale`` has no guarantee."""
    eps: Annotated[list[GraphBudget], Field(min_length=1), Distinct] = ["1/n", "inf"]
    """Budgets of a graph's embedding; ``1/n`` is one over its number of nodes."""
    rounds: Count = 200
    """Rounds of federated averaging."""
    clients: Count = 10
    """Clients that train together."""
    concentration: Positive = 1.0
    """Concentration of the Dirichlet draw that deals graphs to clients by class."""
    absence: Share = 0.0
    """Chance that a client misses a round."""
    solver: Solver = Solver()
    """How Gromov-Wasserstein discrepancies are solved."""
    budget: Budget = "inf"
    """A finite one refuses every deployment: model updates cross in clear."""
    metric: Literal["euclidean", "cosine", "correlation"] = "euclidean"
    """Distance of two rows of an embedding."""
    rectify: bool = False
    """Whether reports are made unbiased first; the paper's are not."""


class GraphClassification(EmbeddedGraphs):
    """The study of graph kernels over protected embeddings: kernel machines beside baselines."""

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = ["mutag"]
    """Sets of graphs."""
    backbones: Annotated[list[Literal["gcn", "gin"]], Field(min_length=1), Distinct] = ["gcn", "gin"]
    """Networks that embed the graphs."""
    baselines: Annotated[list[Literal["gnn", "spk", "svm-gw", "svm-fgw", "node-count"]], Distinct] = [
        "gnn",
        "spk",
        "svm-gw",
        "svm-fgw",
        "node-count",
    ]
    """Methods on raw graphs, and the control ``node-count``."""
    gamma_unit: Literal["median", "raw"] = "median"
    """Kernel width in units of the median distance, or raw."""
    cure: Literal["none", "clip", "flip", "shift"] = "none"
    """What mends an indefinite kernel."""


class EgoClustering(EmbeddedGraphs):
    """The study of ego graphs cut out of one graph: how many of each reach, around the same centres."""

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = ["citeseer"]
    """Graphs with a class for each node."""
    graphs: Annotated[Count, Field(ge=4)] = 500
    """Ego graphs of each reach."""
    hops: Annotated[list[Count], Field(min_length=1), Distinct] = [1, 2]
    """How far they reach."""
