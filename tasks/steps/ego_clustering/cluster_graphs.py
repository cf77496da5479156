"""Steps on the curator's side: reported graphs, or for control their node counts, put into k clusters."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from tasks.curator.kernels.clustering import ROUNDS, gromov_k_means
from tasks.curator.kernels.distances import Metric
from tasks.curator.kernels.node_counts import node_count_k_means
from tasks.parameters.graphs import Solver
from tasks.reports.embedding import EmbeddingReport
from tasks.seeds import generator
from tasks.steps.declaration import Draft
from tasks.steps.ego_clustering.ego_graphs import STUDY
from tasks.steps.graph_classification.gromov import read_distances, reported_structures
from tasks.steps.point import point
from tasks.steps.progress import occasionally
from tasks.steps.report_point import REPORT
from tasks.steps.seeds import Seed
from tasks.store import PointRef

CLUSTERS = "clusters.npy"
INERTIA = "inertia.json"


@point(
    label="cluster {label}",
    seed=Seed(STUDY, "k-means"),
    ignore=("solver", "dataset", "label", "repeat"),
    also=lambda of: {"starts": of.solver.starts, "rounds": ROUNDS},
)
def cluster_reports(
    draft: Draft,
    report: PointRef,
    distances: PointRef,
    *,
    clusters: int,
    metric: Metric,
    rectify: bool,
    solver: Solver,
    dataset: str,
    label: str,
    repeat: int,
    seed: int | None,
) -> None:
    """k-means in Gromov-Wasserstein space, with barycentres as centres; ``distances`` are those of the report."""
    given = reported_structures(report, metric, rectify=rectify)
    # A barycentre's matrix products would differ in their last bits with the number of threads.
    with threadpool_limits(1, "blas"):
        found = gromov_k_means(
            given.distances,
            read_distances(distances),
            clusters,
            generator(draft.seed),
            starts=solver.starts if given.ties else 1,
            threads=solver.threads,
            progress=occasionally(draft.label, ROUNDS, "rounds"),
        )
    np.save(draft.file(CLUSTERS), found.assignment)
    draft.file(INERTIA).write_text(json.dumps(found.inertia) + "\n")


@point(label="cluster {label}", seed=Seed(STUDY, "node counts"), ignore=("dataset", "label", "repeat"))
def cluster_node_counts(
    draft: Draft, report: PointRef, *, clusters: int, dataset: str, label: str, repeat: int, seed: int | None
) -> None:
    """The control that reads nothing of a report but the node counts, which are public under every encoder."""
    counts = EmbeddingReport.load(report.file(REPORT)).node_counts
    np.save(draft.file(CLUSTERS), node_count_k_means(counts, clusters, draft.seed % 2**32))


def read_clusters(clustered: PointRef) -> NDArray[np.int64]:
    """int64 (G,), the cluster of each graph."""
    assignment: NDArray[np.int64] = np.load(clustered.file(CLUSTERS))
    return assignment
