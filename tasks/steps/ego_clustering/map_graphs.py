"""Steps on the researcher's bench: scores of clusters, maps of the graphs, and the discrepancies of five of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from tasks.client.ego_graphs import graphs_of_nodes
from tasks.code_version import code_version
from tasks.evaluation.graph_classification.distance_analysis import pair_statistics, plane_map
from tasks.evaluation.graph_classification.graph_scoring import score_partition
from tasks.seeds import generator
from tasks.steps.ego_clustering.cluster_graphs import read_clusters
from tasks.steps.ego_clustering.ego_graphs import CENTRES, CODE, STUDY, EgoSource
from tasks.steps.graph_classification.analyse_graphs import ANALYSIS
from tasks.steps.graph_classification.gromov import read_distances
from tasks.steps.node_classification.score import METRICS
from tasks.steps.point import point_task
from tasks.steps.report_point import one_graph
from tasks.steps.seeds import curator_seed
from tasks.store import PointRef, PointStore

PLACES = "places.npy"
FIVE = 5
"""Graphs that figure 4 of the paper compares."""


@point_task()
def score_clusters(store: PointStore, source: EgoSource, clusters: PointRef, *, label: str) -> PointRef:
    """Agreement with the centres' classes, over all graphs.

    Of public graphs also in how many reports the data of one node are; of a private one that would tell of degrees.
    """

    def compute(folder: Path) -> None:
        assert source.whole is not None
        metrics = score_partition(read_clusters(clusters), source.load().labels)
        if not source.private:
            graph, centres = one_graph(source.whole, STUDY), np.load(source.folder / CENTRES)
            metrics["most_reports_of_a_node"] = float(graphs_of_nodes(graph, centres, source.hops).max())
        (folder / METRICS).write_text(json.dumps(metrics, sort_keys=True) + "\n")

    key = {
        "step": "score clusters",
        "raw": source.content,
        "clusters": clusters.content,
        "code": code_version("tasks.evaluation.graph_classification.graph_scoring", CODE),
        # Points of private graphs that older versions scored hold that number; they are not found any more.
        **({"figures": "of clusters alone"} if source.private else {}),
    }
    return store.point(key, compute, label=f"score {label}", private=source.private)


@point_task()
def map_distances(
    store: PointStore, distances: PointRef, *, dataset: str, label: str, repeat: int, seed: int | None
) -> PointRef:
    """t-SNE of the graphs (figure 2)."""
    places_seed = curator_seed(seed, study=STUDY, dataset=dataset, point="map", repeat=repeat, role="bench")

    def compute(folder: Path) -> None:
        # Sums over threads differ in their last bits, and t-SNE in everything after a few hundred steps of them. Seeds
        # of scikit-learn have 32 bits.
        with threadpool_limits(1):
            np.save(folder / PLACES, plane_map(read_distances(distances), places_seed % 2**32))

    key = {
        "step": "map distances",
        "distances": distances.content,
        "seed": places_seed,
        "code": code_version("tasks.evaluation.graph_classification.distance_analysis"),
    }
    return store.point(key, compute, label=f"map {label}", private=distances.raw)


@point_task()
def compare_five(
    store: PointStore, distances: PointRef, *, dataset: str, label: str, repeat: int, seed: int | None
) -> PointRef:
    """Mean and spread over the pairs of five graphs (figure 4), the same five for every report of a repeat."""
    draw_seed = curator_seed(seed, study=STUDY, dataset=dataset, point="five graphs", repeat=repeat, role="bench")

    def compute(folder: Path) -> None:
        matrix = read_distances(distances)
        five = generator(draw_seed).choice(len(matrix), size=min(FIVE, len(matrix)), replace=False)
        mean, sd = pair_statistics(matrix[np.ix_(five, five)])
        found = {"five_gw_mean": mean, "five_gw_sd": sd}
        (folder / ANALYSIS).write_text(json.dumps(found, sort_keys=True) + "\n")

    key = {
        "step": "compare five",
        "distances": distances.content,
        "graphs": FIVE,
        "seed": draw_seed,
        "code": code_version("tasks.evaluation.graph_classification.distance_analysis"),
    }
    return store.point(key, compute, label=f"five graphs {label}", private=distances.raw)


def read_places(point: PointRef) -> NDArray[np.float32]:
    """(G, 2)."""
    places: NDArray[np.float32] = np.load(point.file(PLACES))
    return places
