"""Steps of the evaluation: scores of clusters, maps of the graphs, and the discrepancies of five of them."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from tasks.client.ego_graphs import graphs_of_nodes
from tasks.evaluation.graph_classification.distance_analysis import pair_statistics, plane_map
from tasks.evaluation.graph_classification.graph_scoring import score_partition
from tasks.seeds import generator
from tasks.steps.declaration import Draft
from tasks.steps.ego_clustering.cluster_graphs import read_clusters
from tasks.steps.ego_clustering.ego_graphs import CENTRES, STUDY, EgoSource
from tasks.steps.graph_classification.analyse_graphs import ANALYSIS
from tasks.steps.graph_classification.gromov import read_distances
from tasks.steps.node_classification.score import METRICS
from tasks.steps.point import point
from tasks.steps.raw_source import one_graph
from tasks.steps.seeds import EVALUATION, Seed
from tasks.store import PointRef

PLACES = "places.npy"
FIVE = 5
"""Graphs that figure 4 of the paper compares."""


@point(
    label="score {label}",
    ignore=("label",),
    # Points of private graphs that older versions scored hold that number; they are not found any more.
    also=lambda of: {"figures": "of clusters alone"} if of.source.private else {},
)
def score_clusters(draft: Draft, source: EgoSource, clusters: PointRef, *, label: str) -> None:
    """Agreement with the centres' classes, over all graphs.

    Of public graphs also in how many reports the data of one node are; of a private one that would tell of degrees.
    """
    assert source.whole is not None
    metrics = score_partition(read_clusters(clusters), source.load().labels)
    if not source.private:
        graph, centres = one_graph(source.whole, STUDY), np.load(source.folder / CENTRES)
        metrics["most_reports_of_a_node"] = float(graphs_of_nodes(graph, centres, source.hops).max())
    draft.file(METRICS).write_text(json.dumps(metrics, sort_keys=True) + "\n")


@point(label="map {label}", seed=Seed(STUDY, "map", EVALUATION), ignore=("dataset", "label", "repeat"))
def map_distances(
    draft: Draft, distances: PointRef, *, dataset: str, label: str, repeat: int, seed: int | None
) -> None:
    """t-SNE of the graphs (figure 2)."""
    # Sums over threads differ in their last bits, and t-SNE in everything after a few hundred steps of them. Seeds
    # of scikit-learn have 32 bits.
    with threadpool_limits(1):
        np.save(draft.file(PLACES), plane_map(read_distances(distances), draft.seed % 2**32))


@point(
    label="five graphs {label}",
    seed=Seed(STUDY, "five graphs", EVALUATION),
    ignore=("dataset", "label", "repeat"),
    also=lambda of: {"graphs": FIVE},
)
def compare_five(draft: Draft, distances: PointRef, *, dataset: str, label: str, repeat: int, seed: int | None) -> None:
    """Mean and spread over the pairs of five graphs (figure 4), the same five for every report of a repeat."""
    matrix = read_distances(distances)
    five = generator(draft.seed).choice(len(matrix), size=min(FIVE, len(matrix)), replace=False)
    mean, sd = pair_statistics(matrix[np.ix_(five, five)])
    found = {"five_gw_mean": mean, "five_gw_sd": sd}
    draft.file(ANALYSIS).write_text(json.dumps(found, sort_keys=True) + "\n")


def read_places(mapped: PointRef) -> NDArray[np.float32]:
    """(G, 2)."""
    places: NDArray[np.float32] = np.load(mapped.file(PLACES))
    return places
