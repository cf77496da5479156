"""What the study of ego graphs lays below data/: points, tables, and the paper's figures 2, 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from flows.ego_points import Points, Seen
from flows.exports import data_folder, export_results
from flows.graph_distances import Distances
from flows.graph_reports import NO_NOISE, Cell, Reports
from flows.study import Outcome, Study, workspace
from tasks.epsilon import INFINITE, epsilon_sort_key
from tasks.evaluation.ego_figures import FIVE, GraphMap, draw_five, draw_maps, draw_scores
from tasks.evaluation.reference import read_reference
from tasks.evaluation.tables import summary
from tasks.steps.cluster_graphs import read_clusters
from tasks.steps.ego_graphs import STUDY, EgoSource
from tasks.steps.map_graphs import read_places


def export_clustering(
    study: Study,
    outcome: Outcome,
    egos: Mapping[str, EgoSource],
    reports: Reports,
    distances: dict[tuple[Cell, int], Distances],
    clusters: Points,
    scores: Points,
    seen: Seen,
) -> list[Path]:
    """What the clients sent goes below noisy, all else below results; returns the figures."""
    compared = {key: by_alpha[1.0] for key, by_alpha in distances.items()}
    for name, source in egos.items():
        study.store.export(reports.points(name), data_folder("noisy", study.request, STUDY, name))
        made = {
            point
            for points in (compared, clusters, scores, seen.analyses, seen.maps, seen.fives)
            for (cell, _), point in points.items()
            if cell.dataset == name
        }
        kept = [*reports.kept(name), *([source.point] if source.point else [])]
        export_results(study, outcome, name, [*made, *kept])
    return draw_clustering(study, outcome, egos, clusters, seen)


def draw_clustering(
    study: Study, outcome: Outcome, egos: Mapping[str, EgoSource], clusters: Points, seen: Seen
) -> list[Path]:
    """The figures, beside the data sets' folders."""
    folder = data_folder("results", study.request, STUDY)
    table = summary(outcome.rows)
    drawn = draw_scores(table, folder)
    drawn.append(draw_five(table, read_reference(workspace() / "data" / "reference" / "gromov.csv"), folder / FIVE))
    for name, source in egos.items():
        for encoder in study.profile.graph_classification.encoders:
            # No noise first, as in the paper; then in order of the budget.
            cells = sorted(
                (cell for cell, _ in seen.maps if cell.dataset == name and cell.encoder in (encoder, NO_NOISE)),
                key=lambda cell: (cell.eps != INFINITE, epsilon_sort_key(cell.eps)),
            )
            maps = [
                GraphMap(
                    "no LDP" if cell.eps == INFINITE else f"{encoder}, eps={cell.eps}",
                    read_places(seen.maps[cell, 0]),
                    read_clusters(clusters[cell, 0]),
                )
                for cell in cells
                if (cell, 0) in clusters
            ]
            if maps:
                drawn.append(draw_maps(maps, source.load().labels, folder / f"maps_{name}_{encoder}.png"))
    return drawn
