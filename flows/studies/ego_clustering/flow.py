"""Clusters of ego graphs in Gromov-Wasserstein space over locally private embeddings: GW-LDP's second task.

``--export`` lays everything below data/; ``python -m flows.report`` draws the figures.
"""

from __future__ import annotations

from collections import defaultdict

from flows.context.splits import deal_roles
from flows.context.study import Outcome, Study
from flows.studies.ego_clustering.clusters import Seen, cluster, cut, inspect, judge
from flows.studies.ego_clustering.exports import export_clustering
from flows.studies.graph_classification.clients import Reports, encode, federate, ledgers
from flows.studies.graph_classification.flow import analyse
from flows.studies.graph_classification.grid import EGO_BACKBONES, Cell
from flows.studies.graph_classification.kernels import compare_embeddings
from flows.tracking.mlflow_log import Tracker
from tasks.evaluation.tables.rows import Row
from tasks.steps.ego_clustering.ego_graphs import STUDY
from tasks.steps.graph_classification.analyse_graphs import read_analysis
from tasks.steps.graph_classification.graph_sets import split_graphs
from tasks.steps.node_classification.prediction import Clusters
from tasks.steps.node_classification.score import read_metrics
from tasks.store import PointRef

MECHANISMS = ("tasks.client.embedding_encoder",)


def ego_clustering(study: Study, tracker: Tracker) -> Outcome:
    """Users around a centre report one embedding of their ego graph; the curator clusters; the bench scores."""
    egos = cut(study, study.sources())
    splits = deal_roles(study, egos, split_graphs)
    federations = federate(study, egos, splits, EGO_BACKBONES, "node")
    reports = Reports(splits, {}, federations, encode(study, egos, federations, "gw-k-means"))
    distances = compare_embeddings(study, reports)
    clusters = cluster(study, egos, reports, distances)
    seen = Seen(analyse(study, egos, distances), *inspect(study, distances))
    scores: defaultdict[Cell, dict[int, PointRef]] = defaultdict(dict)
    rows: defaultdict[Cell, list[Row]] = defaultdict(list)

    for cell, repeat, scored in judge(study, egos, clusters):
        metrics = read_metrics(scored)
        for points in (seen.analyses, seen.fives):
            metrics |= read_analysis(points[cell, repeat]) if (cell, repeat) in points else {}
        rows[cell] += [Row(STUDY, cell.dataset, cell.method, cell.settings, repeat, *item) for item in metrics.items()]
        scores[cell][repeat] = scored
        if len(scores[cell]) == study.profile.repeats:
            made = {of: Clusters(clusters[cell, of]) for of in scores[cell]}
            tracker.cell(str(cell), rows[cell], scores[cell], egos[cell.dataset], MECHANISMS, made)

    outcome = study.outcome([row for cell in rows for row in rows[cell]], ledgers(study, egos, reports))
    if study.request.export:
        judged = {(cell, repeat): point for cell in scores for repeat, point in scores[cell].items()}
        export_clustering(study, outcome, egos, reports, distances, clusters, judged, seen)
    return outcome
