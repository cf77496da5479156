"""Steps on the curator's side: reported graphs, or for control their node counts, put into k clusters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from tasks.code_version import code_version
from tasks.curator.kernels.clustering import gromov_k_means
from tasks.curator.kernels.distances import Metric
from tasks.curator.kernels.node_counts import node_count_k_means
from tasks.parameters.graphs import Solver
from tasks.reports.embedding import EmbeddingReport
from tasks.seeds import generator
from tasks.steps.ego_clustering.ego_graphs import STUDY
from tasks.steps.graph_classification.gromov import read_distances, reported_structures
from tasks.steps.node_classification.perturb import REPORT
from tasks.steps.point import point_task
from tasks.steps.progress import occasionally
from tasks.steps.seeds import curator_seed
from tasks.store import PointRef, PointStore

CLUSTERS = "clusters.npy"
INERTIA = "inertia.json"
ROUNDS = 10
"""At most so many rounds of k-means."""


@point_task()
def cluster_reports(
    store: PointStore,
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
) -> PointRef:
    """k-means in Gromov-Wasserstein space, with barycentres as centres; ``distances`` are those of the report."""
    starts_seed = curator_seed(seed, study=STUDY, dataset=dataset, point="k-means", repeat=repeat)
    name = f"cluster {label}"

    def compute(folder: Path) -> None:
        given = reported_structures(report, metric, rectify=rectify)
        # A barycentre's matrix products would differ in their last bits with the number of threads.
        with threadpool_limits(1, "blas"):
            found = gromov_k_means(
                given.distances,
                read_distances(distances),
                clusters,
                generator(starts_seed),
                rounds=ROUNDS,
                starts=solver.starts if given.ties else 1,
                threads=solver.threads,
                progress=occasionally(name, ROUNDS, "rounds"),
            )
        np.save(folder / CLUSTERS, found.assignment)
        (folder / INERTIA).write_text(json.dumps(found.inertia) + "\n")

    key = {
        "step": "cluster reports",
        "report": report.content,
        "distances": distances.content,
        "clusters": clusters,
        "metric": metric,
        "rectify": rectify,
        "starts": solver.starts,
        "rounds": ROUNDS,
        "seed": starts_seed,
        "code": code_version(
            "tasks.curator.kernels.clustering", "tasks.curator.kernels.distances", "tasks.curator.embeddings"
        ),
    }
    return store.point(key, compute, label=name, private=report.raw)


@point_task()
def cluster_node_counts(
    store: PointStore, report: PointRef, *, clusters: int, dataset: str, label: str, repeat: int, seed: int | None
) -> PointRef:
    """The control that reads nothing of a report but the node counts, which are public under every encoder."""
    starts_seed = curator_seed(seed, study=STUDY, dataset=dataset, point="node counts", repeat=repeat)

    def compute(folder: Path) -> None:
        counts = EmbeddingReport.load(report.file(REPORT)).node_counts
        np.save(folder / CLUSTERS, node_count_k_means(counts, clusters, starts_seed % 2**32))

    key = {
        "step": "cluster node counts",
        "report": report.content,
        "clusters": clusters,
        "seed": starts_seed,
        "code": code_version("tasks.curator.kernels.node_counts"),
    }
    return store.point(key, compute, label=f"cluster {label}", private=report.raw)


def read_clusters(point: PointRef) -> NDArray[np.int64]:
    """int64 (G,), the cluster of each graph."""
    assignment: NDArray[np.int64] = np.load(point.file(CLUSTERS))
    return assignment
