"""Step on the researcher's bench: the distances themselves, and nearest neighbours in place of a kernel machine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tasks.code_version import code_version
from tasks.evaluation.graph_classification.distance_analysis import FOLDS, nearest_neighbour_accuracy, pair_statistics
from tasks.steps.download import RawSource
from tasks.steps.graph_classification.graph_sets import STUDY, graph_set
from tasks.steps.graph_classification.gromov import read_distances
from tasks.steps.point import point_task
from tasks.steps.seeds import curator_seed
from tasks.store import PointRef, PointStore

ANALYSIS = "analysis.json"
NEIGHBOURS = (5, 20)
"""The paper's numbers of neighbours (figure 3)."""


@point_task()
def analyse_distances(
    store: PointStore, source: RawSource, distances: PointRef, *, label: str, repeat: int, seed: int | None
) -> PointRef:
    """Mean and spread over all pairs; accuracy of k neighbours, cross-validated over all graphs (not the split's).

    Left out for so few graphs that a fold has no k to ask, or a class only one.
    """
    folds_seed = curator_seed(seed, study=STUDY, dataset=source.name, point="folds", repeat=repeat, role="bench")

    def compute(folder: Path) -> None:
        matrix, labels = read_distances(distances), graph_set(source).labels
        mean, sd = pair_statistics(matrix)
        folds = min(FOLDS, int(np.unique(labels, return_counts=True)[1].min()))
        found = {"gw_mean": mean, "gw_sd": sd}
        asked = len(labels) - -(-len(labels) // folds)
        for k in NEIGHBOURS if folds > 1 else ():
            if k > asked:
                continue
            # Seeds of scikit-learn have 32 bits.
            accuracy = nearest_neighbour_accuracy(matrix, labels, k, folds_seed % 2**32, folds)
            found[f"knn_{k}_accuracy"] = float(accuracy.mean())
        (folder / ANALYSIS).write_text(json.dumps(found, sort_keys=True) + "\n")

    key = {
        "step": "analyse distances",
        "raw": source.content,
        "distances": distances.content,
        "neighbours": NEIGHBOURS,
        "seed": folds_seed,
        "code": code_version("tasks.evaluation.graph_classification.distance_analysis"),
    }
    return store.point(key, compute, label=f"analyse {label}", private=source.private)


def read_analysis(point: PointRef) -> dict[str, float]:
    """The figures of an analysed point."""
    return dict(json.loads(point.file(ANALYSIS).read_text()))
