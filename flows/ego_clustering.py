"""Clusters of ego graphs in Gromov-Wasserstein space over locally private embeddings: GW-LDP's second task.

python -m flows.ego_clustering [--profile P] [--dataset D ...] [--set key=json ...] [--json FILE] [--plain] [--export]

``--export`` lays everything below data/; ``python -m flows.report`` draws the figures.
"""

from __future__ import annotations

if __name__ == "__main__":
    from flows.command import main

    raise SystemExit(main("ego_clustering"))

from collections import defaultdict

from flows.dealing import deal_roles
from flows.ego_exports import export_clustering
from flows.ego_points import Seen, cluster, cut, inspect, judge
from flows.graph_classification import analyse
from flows.graph_distances import compare_embeddings
from flows.graph_lines import EGO_BACKBONES, Cell
from flows.graph_reports import Reports, encode, federate, ledgers
from flows.study import Outcome, Study
from flows.tracking import Tracker
from tasks.evaluation.rows import Row
from tasks.steps.analyse_graphs import read_analysis
from tasks.steps.ego_graphs import STUDY
from tasks.steps.graph_sets import split_graphs
from tasks.steps.prediction import Clusters
from tasks.steps.score import read_metrics
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
