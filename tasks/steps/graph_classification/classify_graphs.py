"""Steps on the curator's side: a support vector machine on distances between graphs, and the baseline's on SPK."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict

import numpy as np

from tasks.curator.kernels.gromov_kernel import Candidate, GammaUnit, gromov_kernels
from tasks.curator.kernels.spectrum import Correction
from tasks.curator.kernels.svm import choose_svm
from tasks.evaluation.graph_classification.shortest_path_kernel import shortest_path_kernel
from tasks.reports.label import LabelReport
from tasks.steps.declaration import Draft
from tasks.steps.graph_classification.embed_graphs import PREDICTIONS
from tasks.steps.graph_classification.graph_sets import graph_set
from tasks.steps.graph_classification.gromov import read_distances
from tasks.steps.point import point
from tasks.steps.raw_source import RawSource
from tasks.steps.report_point import REPORT
from tasks.store import PointRef

CHOSEN = "chosen.json"
SEARCH = "search.csv"


@point(label="classify {label}", ignore=("label",))
def classify_by_distances(
    draft: Draft,
    labels: PointRef,
    distances: Mapping[float, PointRef],
    *,
    gamma_unit: GammaUnit,
    cure: Correction,
    label: str,
) -> None:
    """Chooses C, gamma and alpha (the keys of ``distances``, {1: ...} without features) on the validation graphs."""
    known = LabelReport.load(labels.file(REPORT))
    matrices = {alpha: read_distances(point) for alpha, point in distances.items()}
    _choose(gromov_kernels(matrices, known.train_nodes, unit=gamma_unit), known, cure, draft)


@point(label="classify {label}", ignore=("label",))
def classify_by_shortest_paths(
    draft: Draft, source: RawSource, labels: PointRef, *, cure: Correction, label: str
) -> None:
    """The shortest-path kernel's machine: a baseline that sees the raw graphs."""
    known = LabelReport.load(labels.file(REPORT))
    columns = shortest_path_kernel(graph_set(source).graphs, known.train_nodes)
    _choose([({}, columns)], known, cure, draft)


def read_spectrum(classified: PointRef) -> dict[str, float]:
    """How indefinite the chosen kernel is on the training graphs, and how the machine did on the validation graphs."""
    chosen = json.loads(classified.file(CHOSEN).read_text())
    return {
        "smallest_eigenvalue": chosen["spectrum"]["smallest"],
        "negative_mass": chosen["spectrum"]["negative_mass"],
        "validation_accuracy": chosen["validation_accuracy"],
    }


def _choose(kernels: Iterable[Candidate], known: LabelReport, cure: Correction, draft: Draft) -> None:
    found = choose_svm(kernels, known, correction=cure)
    np.save(draft.file(PREDICTIONS), found.predictions)
    chosen = {
        "settings": found.settings,
        "validation_accuracy": found.validation_accuracy,
        "spectrum": asdict(found.spectrum),
    }
    draft.file(CHOSEN).write_text(json.dumps(chosen, sort_keys=True) + "\n")
    found.search.to_csv(draft.file(SEARCH), index=False, lineterminator="\n")
