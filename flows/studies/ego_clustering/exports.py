"""What the study of ego graphs lays below data/: points, tables, and the maps that figure 2 is drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from flows.context.exports import export_results
from flows.context.project import data_folder
from flows.context.study import Outcome, Study
from flows.studies.ego_clustering.clusters import Inspection
from flows.studies.graph_classification.clients import Reports
from flows.studies.graph_classification.grid import Cell
from flows.studies.graph_classification.kernels import Distances
from flows.studies.scoring import Points
from tasks.evaluation.graph_classification.ego_figures import MAPS, map_rows
from tasks.evaluation.tables.summary import write_csv
from tasks.steps.ego_clustering.cluster_graphs import read_clusters
from tasks.steps.ego_clustering.ego_graphs import EgoSource
from tasks.steps.ego_clustering.map_graphs import read_places


def export_clustering(
    study: Study,
    outcome: Outcome,
    ego_graphs: Mapping[str, EgoSource],
    reports: Reports,
    distances: dict[tuple[Cell, int], Distances],
    clusters: Points,
    scores: Points,
    seen: Inspection,
) -> None:
    """What the clients sent goes below noisy, all else below results: one folder for the ego graphs of one graph."""
    compared = {key: by_alpha[1.0] for key, by_alpha in distances.items()}
    for whole in study.datasets:
        names = [name for name, source in ego_graphs.items() if source.whole is not None and source.whole.name == whole]
        sent = [point for name in names for point in reports.points(name)]
        study.store.export(sent, data_folder("noisy", study.request.profile, study.name, whole))
        made = {
            point
            for points in (compared, clusters, scores, seen.analyses, seen.maps, seen.fives)
            for (cell, _), point in points.items()
            if cell.dataset in names
        }
        kept = {point for name in names for point in reports.kept(name)}
        kept |= {centres for name in names if (centres := ego_graphs[name].point) is not None}
        export_results(study, outcome, whole, list(made | kept), names)
        maps = [row for name in names for row in _maps(ego_graphs[name], clusters, seen)]
        if maps:
            write_csv(data_folder("results", study.request.profile, study.name, whole) / MAPS, pd.concat(maps))


def _maps(source: EgoSource, clusters: Points, seen: Inspection) -> Iterator[pd.DataFrame]:
    # Points arrive as they are finished; the table has an order of its own.
    for (cell, repeat), point in sorted(seen.maps.items(), key=lambda item: str(item[0])):
        if cell.dataset == source.name and (cell, repeat) in clusters:
            assigned = read_clusters(clusters[cell, repeat])
            yield map_rows(cell.dataset, cell.encoder, cell.eps, read_places(point), assigned, source.load().labels)
