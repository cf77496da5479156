"""The curator's side of the graph study: distances between all pairs of graphs, and kernel machines on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product

from flows.context.study import Study
from flows.execution.submission import Call
from flows.studies.graph_classification.clients import Reports
from flows.studies.graph_classification.grid import Cell, baselines
from tasks.parameters.graphs import GraphClassification
from tasks.parameters.profiles import section_of
from tasks.steps.download import RawSource
from tasks.steps.graph_classification.classify_graphs import classify_by_distances, classify_by_shortest_paths
from tasks.steps.graph_classification.gromov import compare_node_counts, compare_raw_graphs, compare_reports
from tasks.store import PointRef

STRUCTURE = 1.0
"""All weight on the structure: the plain discrepancy."""
ALPHAS = {"svm-gw": (STRUCTURE,), "svm-fgw": (0.0, 0.25, 0.5, 0.75, STRUCTURE), "node-count": (STRUCTURE,)}
"""By method, the weights of the structure against the features that validation chooses from."""

Distances = dict[float, PointRef]
"""By weight of the structure."""


def compare(study: Study, sources: dict[str, RawSource], reports: Reports) -> dict[tuple[Cell, int], Distances]:
    """Distances for every kernel machine: of reports, and of the baselines, which the repeats share."""
    found = compare_embeddings(study, reports)
    for (cells, alpha), point in study.collect(baseline_distances(study, sources)).items():
        for cell, repeat in product(cells, range(study.profile.repeats)):
            found.setdefault((cell, repeat), {})[alpha] = point
    return {key: dict(sorted(by_alpha.items())) for key, by_alpha in found.items()}


def compare_embeddings(study: Study, reports: Reports) -> dict[tuple[Cell, int], Distances]:
    """Distances of reports."""
    compared = study.collect(
        study.call(compare_reports, "compare", cell, repeat, report=report)
        for (cell, repeat), report in reports.embeddings.items()
    )
    return {key: {STRUCTURE: point} for key, point in compared.items()}


def classify(
    study: Study,
    sources: dict[str, RawSource],
    reports: Reports,
    distances: dict[tuple[Cell, int], Distances],
) -> dict[tuple[Cell, int], PointRef]:
    """Predicted classes of all graphs by every machine."""
    calls = [
        study.call(
            classify_by_distances,
            "classify",
            cell,
            repeat,
            labels=reports.labels[cell.dataset, repeat],
            distances=by_alpha,
        )
        for (cell, repeat), by_alpha in distances.items()
        if (cell.dataset, repeat) in reports.labels and len(by_alpha) == len(ALPHAS[cell.method])
    ]
    calls += [
        study.call(classify_by_shortest_paths, "classify", cell, repeat, source=sources[name], labels=labels)
        for (name, repeat), labels in reports.labels.items()
        for cell in baselines(section_of(study.profile, GraphClassification), name)
        if cell.method == "spk"
    ]
    return study.collect(calls)


def baseline_distances(study: Study, sources: dict[str, RawSource]) -> Iterator[Call]:
    """Distances that see no report, once for all repeats and for all cells in the key of a call."""
    for name, source in sources.items():
        readers: defaultdict[float, list[Cell]] = defaultdict(list)
        for cell in baselines(section_of(study.profile, GraphClassification), name):
            if cell.method == "node-count":
                of = f"{name} node counts"
                yield study.call(compare_node_counts, "compare", of, key=((cell,), STRUCTURE), source=source)
            else:
                for alpha in ALPHAS.get(cell.method, ()):
                    readers[alpha].append(cell)
        for alpha, cells in readers.items():
            of = f"{name} raw alpha={alpha:g}"
            yield study.call(compare_raw_graphs, "compare", of, key=(tuple(cells), alpha), source=source, alpha=alpha)
