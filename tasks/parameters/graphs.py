"""The sections of params.yaml for studies of reported graph embeddings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tasks.parameters.values import Budget, Count, Distinct, GraphBudget, Positive, Section, Share


class Solver(Section):
    """The Gromov-Wasserstein solver: what it does (``starts``) and how it is run."""

    starts: Count = 2
    threads: Count | None = 1
    block: Count = 65536


class EmbeddedGraphs(Section):
    """What studies of reported graph embeddings share: federated training, encoders and budgets, the solver.

    ``concentration`` is of the Dirichlet draw that deals graphs to clients by class; ``absence`` the chance that a
    client misses a round.
    """

    encoders: Annotated[list[Literal["per_row", "row", "paper", "gaussian_scale"]], Field(min_length=1), Distinct] = [
        "per_row"
    ]
    eps: Annotated[list[GraphBudget], Field(min_length=1), Distinct] = ["1/n", "inf"]
    rounds: Count = 200
    clients: Count = 10
    concentration: Positive = 1.0
    absence: Share = 0.0
    solver: Solver = Solver()
    budget: Budget = "inf"
    metric: Literal["euclidean", "cosine", "correlation"] = "euclidean"
    rectify: bool = False


class GraphClassification(EmbeddedGraphs):
    """The study of graph kernels over protected embeddings: kernel machines beside baselines."""

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = ["mutag"]
    backbones: Annotated[list[Literal["gcn", "gin"]], Field(min_length=1), Distinct] = ["gcn", "gin"]
    baselines: Annotated[list[Literal["gnn", "spk", "svm-gw", "svm-fgw", "node-count"]], Distinct] = [
        "gnn",
        "spk",
        "svm-gw",
        "svm-fgw",
        "node-count",
    ]
    gamma_unit: Literal["median", "raw"] = "median"
    cure: Literal["none", "clip", "flip", "shift"] = "none"


class EgoClustering(EmbeddedGraphs):
    """The study of ego graphs cut out of one graph: how many of each reach, around the same centres."""

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = ["citeseer"]
    graphs: Annotated[Count, Field(ge=4)] = 500
    hops: Annotated[list[Count], Field(min_length=1), Distinct] = [1, 2]
