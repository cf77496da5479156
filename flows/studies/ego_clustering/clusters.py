"""The points of the study of ego graphs, from the graphs themselves to their clusters' scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from flows.context.study import Study
from flows.execution.submission import Call
from flows.studies.graph_classification.clients import Reports
from flows.studies.graph_classification.grid import Cell, node_counts
from flows.studies.graph_classification.kernels import Distances
from tasks.steps.download import RawSource
from tasks.steps.ego_clustering.cluster_graphs import cluster_node_counts, cluster_reports
from tasks.steps.ego_clustering.ego_graphs import EgoSource, draw_ego_centres, ego_source
from tasks.steps.ego_clustering.map_graphs import compare_five, map_distances, score_clusters
from tasks.store import PointRef

Points = dict[tuple[Cell, int], PointRef]
"""One point for each cell and repeat."""


@dataclass(frozen=True)
class Seen:
    """What the bench sees of the distances: all pairs, a map (of the first repeat), and five graphs."""

    analyses: Points
    maps: Points
    fives: Points


def cut(study: Study, sources: Mapping[str, RawSource]) -> dict[str, EgoSource]:
    """The ego graphs by name, of every reach around the same centres; all repeats share them."""
    seed, grid = study.profile.seed, study.profile.ego_clustering
    centres = study.collect(
        Call(
            draw_ego_centres,
            f"draw centres {name}",
            {
                "store": study.store,
                "source": source,
                "graphs": grid.graphs,
                "repeat": 0,
                "seed": 0 if seed is None else seed,
            },
            name,
        )
        for name, source in sources.items()
    )
    cuts = [ego_source(sources[name], point, hops) for (name, point), hops in product(centres.items(), grid.hops)]
    return {source.name: source for source in cuts}


def cluster(
    study: Study, egos: Mapping[str, EgoSource], reports: Reports, distances: dict[tuple[Cell, int], Distances]
) -> Points:
    """As many clusters as there are classes, whose number is public; with node counts alone for control."""
    grid = study.profile.ego_clustering
    # The number of classes is known to everybody, as in the other studies.
    classes = {name: source.load().classes for name, source in egos.items()}

    def common(cell: Cell, repeat: int) -> dict[str, Any]:
        return {
            "store": study.store,
            "clusters": classes[cell.dataset],
            "dataset": cell.dataset,
            "label": f"{cell} repeat={repeat}",
            "repeat": repeat,
            "seed": study.profile.seed,
        }

    calls = [
        Call(
            cluster_reports,
            f"cluster {cell} repeat={repeat}",
            {
                **common(cell, repeat),
                "report": reports.embeddings[cell, repeat],
                "distances": by_alpha[1.0],
                "metric": grid.metric,
                "rectify": grid.rectify,
                "solver": grid.solver,
            },
            (cell, repeat),
        )
        for (cell, repeat), by_alpha in distances.items()
    ]
    # Every report of a repeat says the same of node counts.
    some = {(cell.dataset, repeat): point for (cell, repeat), point in sorted(reports.embeddings.items(), key=str)}
    for (name, repeat), report in some.items():
        cell = node_counts(name)
        arguments = {**common(cell, repeat), "report": report}
        calls.append(Call(cluster_node_counts, f"cluster {cell} repeat={repeat}", arguments, (cell, repeat)))
    return study.collect(calls)


def inspect(study: Study, distances: dict[tuple[Cell, int], Distances]) -> tuple[Points, Points]:
    """The bench: maps of the first repeat, and five graphs of every one."""
    found: list[Points] = []
    for step, verb, chosen in ((map_distances, "map", [0]), (compare_five, "compare five", None)):
        found.append(
            study.collect(
                Call(
                    step,
                    f"{verb} {cell} repeat={repeat}",
                    {
                        "store": study.store,
                        "distances": by_alpha[1.0],
                        "dataset": cell.dataset,
                        "label": f"{cell} repeat={repeat}",
                        "repeat": repeat,
                        "seed": study.profile.seed,
                    },
                    (cell, repeat),
                )
                for (cell, repeat), by_alpha in distances.items()
                if chosen is None or repeat in chosen
            )
        )
    return found[0], found[1]


def judge(study: Study, egos: Mapping[str, EgoSource], clusters: Points) -> Iterator[tuple[Cell, int, PointRef]]:
    """The bench: agreement with the centres' classes, as it is scored."""
    calls = (
        Call(
            score_clusters,
            f"score {cell} repeat={repeat}",
            {
                "store": study.store,
                "source": egos[cell.dataset],
                "clusters": point,
                "label": f"{cell} repeat={repeat}",
            },
            (cell, repeat),
        )
        for (cell, repeat), point in clusters.items()
    )
    for done in study.run(calls):
        yield *done.call.about, done.result
