"""The curator's side of the graph study: distances between all pairs of graphs, and kernel machines on them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from flows.graph_reports import Cell, Reports, embedding_grid
from flows.study import Study
from flows.submission import Call
from tasks.datasets.registry import public_dataset
from tasks.steps.classify_graphs import classify_by_distances, classify_by_shortest_paths
from tasks.steps.download import RawSource
from tasks.steps.gromov import compare_node_counts, compare_raw_graphs, compare_reports
from tasks.store import PointRef

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Weights of the structure against the features in svm-fgw, chosen by validation."""

Distances = dict[float, PointRef]
"""By alpha; plain Gromov-Wasserstein is alpha 1."""


def compare(study: Study, sources: dict[str, RawSource], reports: Reports) -> dict[tuple[Cell, int], Distances]:
    """Distances for every kernel machine: of reports, and of the baselines, which the repeats share."""
    found = compare_embeddings(study, reports)
    for (cell, alpha), point in study.collect(baseline_distances(study, sources)).items():
        for repeat in range(study.profile.repeats):
            found.setdefault((cell, repeat), {})[alpha] = point
    return {key: dict(sorted(by_alpha.items())) for key, by_alpha in found.items()}


def compare_embeddings(study: Study, reports: Reports) -> dict[tuple[Cell, int], Distances]:
    """Distances of reports."""
    grid = embedding_grid(study)
    compared = study.collect(
        Call(
            compare_reports,
            f"compare {cell} repeat={repeat}",
            {
                "store": study.store,
                "report": report,
                "metric": grid.metric,
                "rectify": grid.rectify,
                "solver": grid.solver,
                "dataset": cell.dataset,
                "label": f"{cell} repeat={repeat}",
                "seed": study.profile.seed,
            },
            (cell, repeat),
        )
        for (cell, repeat), report in reports.embeddings.items()
    )
    return {key: {1.0: point} for key, point in compared.items()}


def classify(
    study: Study,
    sources: dict[str, RawSource],
    reports: Reports,
    distances: dict[tuple[Cell, int], Distances],
) -> dict[tuple[Cell, int], PointRef]:
    """Predicted classes of all graphs by every machine."""
    grid = study.profile.graph_classification
    calls = [
        Call(
            classify_by_distances,
            f"classify {cell} repeat={repeat}",
            {
                "store": study.store,
                "labels": reports.labels[cell.dataset, repeat],
                "distances": by_alpha,
                "gamma_unit": grid.gamma_unit,
                "cure": grid.cure,
                "label": f"{cell} repeat={repeat}",
            },
            (cell, repeat),
        )
        for (cell, repeat), by_alpha in distances.items()
        if (cell.dataset, repeat) in reports.labels and (cell.method != "svm-fgw" or len(by_alpha) == len(ALPHAS))
    ]
    if "spk" in grid.baselines:
        calls += [
            Call(
                classify_by_shortest_paths,
                f"classify {cell} repeat={repeat}",
                {
                    "store": study.store,
                    "source": sources[name],
                    "labels": labels,
                    "cure": grid.cure,
                    "label": f"{cell} repeat={repeat}",
                },
                (cell, repeat),
            )
            for (name, repeat), labels in reports.labels.items()
            for cell in [Cell(name, "spk")]
        ]
    return study.collect(calls)


def baseline_distances(study: Study, sources: dict[str, RawSource]) -> Iterator[Call]:
    """Distances that see no report, once for all repeats."""
    grid = study.profile.graph_classification
    common = {"store": study.store, "solver": grid.solver, "seed": study.profile.seed}
    for (name, source), baseline in product(sources.items(), grid.baselines):
        if baseline == "svm-gw":
            arguments = {**common, "source": source, "alpha": None}
            yield Call(compare_raw_graphs, f"compare {name} raw", arguments, (Cell(name, baseline), 1.0))
        # Without features of nodes there is nothing to fuse with.
        elif baseline == "svm-fgw" and public_dataset(name).feature_bounds is not None:
            for alpha in ALPHAS:
                arguments = {**common, "source": source, "alpha": alpha}
                about = (Cell(name, baseline), alpha)
                yield Call(compare_raw_graphs, f"compare {name} raw alpha={alpha:g}", arguments, about)
        elif baseline == "node-count":
            about = (Cell(name, baseline, "node counts"), 1.0)
            yield Call(
                compare_node_counts, f"compare {name} node counts", {"store": study.store, "source": source}, about
            )
