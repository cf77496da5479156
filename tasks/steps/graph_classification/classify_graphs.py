"""Steps on the curator's side: a support vector machine on distances between graphs, and the baseline's on SPK."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from tasks.code_version import code_version
from tasks.curator.kernels.gromov_kernel import Candidate, GammaUnit, gromov_kernels
from tasks.curator.kernels.spectrum import Cure
from tasks.curator.kernels.svm import choose_svm
from tasks.evaluation.graph_classification.shortest_path_kernel import shortest_path_kernel
from tasks.reports.label import LabelReport
from tasks.steps.download import RawSource
from tasks.steps.graph_classification.embed_graphs import PREDICTIONS
from tasks.steps.graph_classification.graph_sets import graph_set
from tasks.steps.graph_classification.gromov import read_distances
from tasks.steps.node_classification.perturb import REPORT
from tasks.steps.point import point_task
from tasks.store import PointRef, PointStore

CHOSEN = "chosen.json"
SEARCH = "search.csv"


@point_task()
def classify_by_distances(
    store: PointStore,
    labels: PointRef,
    distances: Mapping[float, PointRef],
    *,
    gamma_unit: GammaUnit,
    cure: Cure,
    label: str,
) -> PointRef:
    """Chooses C, gamma and alpha (the keys of ``distances``, {1: ...} without features) on the validation graphs."""

    def compute(folder: Path) -> None:
        known = LabelReport.load(labels.file(REPORT))
        matrices = {alpha: read_distances(point) for alpha, point in distances.items()}
        _choose(gromov_kernels(matrices, known.train_nodes, unit=gamma_unit), known, cure, folder)

    key = {
        "step": "classify by distances",
        "labels": labels.content,
        "distances": {str(alpha): point.content for alpha, point in distances.items()},
        "gamma_unit": gamma_unit,
        "cure": cure,
        "code": code_version("tasks.curator.kernels.svm", "tasks.curator.kernels.gromov_kernel"),
    }
    private = any(point.raw for point in distances.values())  # the labels are public by assumption
    return store.point(key, compute, label=f"classify {label}", private=private)


@point_task()
def classify_by_shortest_paths(
    store: PointStore, source: RawSource, labels: PointRef, *, cure: Cure, label: str
) -> PointRef:
    """The shortest-path kernel's machine: a baseline that sees the raw graphs."""

    def compute(folder: Path) -> None:
        known = LabelReport.load(labels.file(REPORT))
        columns = shortest_path_kernel(graph_set(source).graphs, known.train_nodes)
        _choose([({}, columns)], known, cure, folder)

    key = {
        "step": "classify by shortest paths",
        "raw": source.content,
        "labels": labels.content,
        "cure": cure,
        "code": code_version("tasks.curator.kernels.svm", "tasks.evaluation.graph_classification.shortest_path_kernel"),
    }
    return store.point(key, compute, label=f"classify {label}", private=source.private)


def read_spectrum(classified: PointRef) -> dict[str, float]:
    """How indefinite the chosen kernel is on the training graphs, and how the machine did on the validation graphs."""
    chosen = json.loads(classified.file(CHOSEN).read_text())
    return {
        "smallest_eigenvalue": chosen["spectrum"]["smallest"],
        "negative_mass": chosen["spectrum"]["negative_mass"],
        "validation_accuracy": chosen["validation_accuracy"],
    }


def _choose(kernels: Iterable[Candidate], known: LabelReport, cure: Cure, folder: Path) -> None:
    found = choose_svm(kernels, known, cure=cure)
    np.save(folder / PREDICTIONS, found.predictions)
    chosen = {
        "settings": found.settings,
        "validation_accuracy": found.validation_accuracy,
        "spectrum": asdict(found.spectrum),
    }
    (folder / CHOSEN).write_text(json.dumps(chosen, sort_keys=True) + "\n")
    found.search.to_csv(folder / SEARCH, index=False, lineterminator="\n")
