"""Step of the evaluation: the distances themselves, and nearest neighbours in place of a kernel machine."""

from __future__ import annotations

import json

import numpy as np

from tasks.evaluation.graph_classification.distance_analysis import FOLDS, nearest_neighbour_accuracy, pair_statistics
from tasks.steps.declaration import Draft
from tasks.steps.graph_classification.graph_sets import STUDY, graph_set
from tasks.steps.graph_classification.gromov import read_distances
from tasks.steps.point import point
from tasks.steps.raw_source import RawSource
from tasks.steps.seeds import EVALUATION, Seed
from tasks.store import PointRef

ANALYSIS = "analysis.json"
NEIGHBOURS = (5, 20)
"""The paper's numbers of neighbours (figure 3)."""


@point(
    label="analyse {label}",
    seed=Seed(STUDY, "folds", EVALUATION),
    ignore=("label", "repeat"),
    also=lambda of: {"neighbours": NEIGHBOURS},
)
def analyse_distances(
    draft: Draft, source: RawSource, distances: PointRef, *, label: str, repeat: int, seed: int | None
) -> None:
    """Mean and spread over all pairs; accuracy of k neighbours, cross-validated over all graphs (not the split's).

    Left out for so few graphs that a fold has no k to ask, or a class only one.
    """
    matrix, labels = read_distances(distances), graph_set(source).labels
    mean, sd = pair_statistics(matrix)
    folds = min(FOLDS, int(np.unique(labels, return_counts=True)[1].min()))
    found = {"gw_mean": mean, "gw_sd": sd}
    asked = len(labels) - -(-len(labels) // folds)
    for k in NEIGHBOURS if folds > 1 else ():
        if k > asked:
            continue
        # Seeds of scikit-learn have 32 bits.
        accuracy = nearest_neighbour_accuracy(matrix, labels, k, draft.seed % 2**32, folds)
        found[f"knn_{k}_accuracy"] = float(accuracy.mean())
    draft.file(ANALYSIS).write_text(json.dumps(found, sort_keys=True) + "\n")


def read_analysis(analysed: PointRef) -> dict[str, float]:
    """The figures of an analysed point."""
    return dict(json.loads(analysed.file(ANALYSIS).read_text()))
