"""The points of the study of ego graphs, from the graphs themselves to their clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from flows.context.study import Study
from flows.studies.graph_classification.clients import Reports
from flows.studies.graph_classification.grid import Cell, node_counts
from flows.studies.graph_classification.kernels import Distances
from flows.studies.scoring import Points
from tasks.parameters.graphs import EgoClustering
from tasks.parameters.profiles import section_of
from tasks.steps.download import RawSource
from tasks.steps.ego_clustering.cluster_graphs import cluster_node_counts, cluster_reports
from tasks.steps.ego_clustering.ego_graphs import EgoSource, class_count, draw_ego_centres, ego_source
from tasks.steps.ego_clustering.map_graphs import compare_five, map_distances


@dataclass(frozen=True)
class Inspection:
    """What the evaluation sees of the distances: all pairs, a map (of the first repeat), and five graphs."""

    analyses: Points
    maps: Points
    fives: Points


def cut(study: Study, sources: Mapping[str, RawSource]) -> dict[str, EgoSource]:
    """The ego graphs by name, of every reach around the same centres; all repeats share them."""
    centres = study.collect(
        study.call(draw_ego_centres, "draw centres", name, key=name, source=source, repeat=0, seed=study.public_seed)
        for name, source in sources.items()
    )
    hops = section_of(study.profile, EgoClustering).hops
    cuts = [ego_source(sources[name], point, reach) for (name, point), reach in product(centres.items(), hops)]
    return {source.name: source for source in cuts}


def cluster(
    study: Study, ego_graphs: Mapping[str, EgoSource], reports: Reports, distances: dict[tuple[Cell, int], Distances]
) -> Points:
    """As many clusters as there are classes, whose number is public; with node counts alone for control."""
    # The number of classes is known to everybody, as in the other studies.
    classes = {name: class_count(source) for name, source in ego_graphs.items()}
    calls = [
        study.call(
            cluster_reports,
            "cluster",
            cell,
            repeat,
            report=reports.embeddings[cell, repeat],
            distances=by_alpha[1.0],
            clusters=classes[cell.dataset],
        )
        for (cell, repeat), by_alpha in distances.items()
    ]
    # Every report of a repeat says the same of node counts.
    some = {(cell.dataset, repeat): point for (cell, repeat), point in sorted(reports.embeddings.items(), key=str)}
    calls += [
        study.call(cluster_node_counts, "cluster", node_counts(name), repeat, report=report, clusters=classes[name])
        for (name, repeat), report in some.items()
    ]
    return study.collect(calls)


def inspect(study: Study, distances: dict[tuple[Cell, int], Distances]) -> tuple[Points, Points]:
    """The evaluation: maps of the first repeat, and five graphs of every one."""
    maps = study.collect(
        study.call(map_distances, "map", cell, repeat, distances=by_alpha[1.0])
        for (cell, repeat), by_alpha in distances.items()
        if repeat == 0
    )
    fives = study.collect(
        study.call(compare_five, "compare five", cell, repeat, distances=by_alpha[1.0])
        for (cell, repeat), by_alpha in distances.items()
    )
    return maps, fives
