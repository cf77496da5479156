"""Clusters of ego graphs in Gromov-Wasserstein space over locally private embeddings: GW-LDP's second task.

``--export`` lays everything below data/; ``python -m flows.report`` draws the figures.
"""

from __future__ import annotations

from prefect import flow

from flows.context.splits import draw_splits
from flows.context.study import Outcome, Study
from flows.studies.conduct import FLOW, conducted
from flows.studies.ego_clustering.clusters import Inspection, cluster, cut, inspect
from flows.studies.ego_clustering.exports import export_clustering
from flows.studies.graph_classification.clients import Reports, encode, federate, ledgers
from flows.studies.graph_classification.flow import analyse
from flows.studies.graph_classification.grid import EGO_BACKBONES, Cell
from flows.studies.graph_classification.kernels import compare_embeddings
from flows.studies.scoring import metric_rows, score_and_track
from flows.tracking.mlflow_log import Tracker
from tasks.evaluation.tables.rows import Row
from tasks.steps.ego_clustering.map_graphs import score_clusters
from tasks.steps.graph_classification.analyse_graphs import read_analysis
from tasks.steps.graph_classification.graph_sets import split_graphs
from tasks.steps.node_classification.prediction import Clusters
from tasks.steps.node_classification.score import read_metrics
from tasks.store import PointRef


@flow(name="ego clustering", **FLOW)
@conducted("ego_clustering")
def ego_clustering(study: Study, tracker: Tracker) -> Outcome:
    """Users around a centre report one embedding of their ego graph; the curator clusters; the evaluation scores."""
    ego_graphs = cut(study, study.sources())
    splits = draw_splits(study, ego_graphs, split_graphs)
    federations = federate(study, ego_graphs, splits, EGO_BACKBONES, "node")
    reports = Reports(splits, {}, federations, encode(study, ego_graphs, federations, "gw-k-means"))
    distances = compare_embeddings(study, reports)
    clusters = cluster(study, ego_graphs, reports, distances)
    seen = Inspection(analyse(study, ego_graphs, distances), *inspect(study, distances))

    def rows_of(cell: Cell, repeat: int, scored: PointRef) -> list[Row]:
        metrics = read_metrics(scored)
        for points in (seen.analyses, seen.fives):
            metrics |= read_analysis(points[cell, repeat]) if (cell, repeat) in points else {}
        return metric_rows(study, cell, repeat, metrics)

    scores = score_and_track(
        study,
        tracker,
        study.run(
            study.call(score_clusters, "score", cell, repeat, source=ego_graphs[cell.dataset], clusters=point)
            for (cell, repeat), point in clusters.items()
            if ego_graphs[cell.dataset].scored
        ),
        ego_graphs,
        rows_of,
        prediction=lambda cell, repeat: Clusters(clusters[cell, repeat]),
    )
    outcome = study.outcome(scores.all_rows, ledgers(study, ego_graphs, reports))
    if study.request.export:
        export_clustering(study, outcome, ego_graphs, reports, distances, clusters, scores.points, seen)
    return outcome
