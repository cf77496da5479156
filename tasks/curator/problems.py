"""What a method hands to the engine: its graph, features, smoothing operator and targets for one repeat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.curator.calibration.smoothing import Smoothing, smoothed_targets, smoothing_matrix
from tasks.curator.engine.problem import Problem, TrainingTargets
from tasks.curator.rectify import AffineSparse
from tasks.reports.label import LabelReport


def prepared(
    graph: csr_array,
    features: AffineSparse | NDArray[np.float32],
    labels: LabelReport,
    *,
    seed: int,
    smoothing: Smoothing,
    dropped: Sequence[int] = (),
) -> Problem:
    """One repeat, ready to train on.

    Args:
        graph: (N, N), calibrated: bits or weights in [0, 1].
        features: (N, d).
        labels: of the training and validation nodes.
        seed: of initial weights and dropout.
        smoothing: kind of the operator of feature and label smoothing.
        dropped: the l_y at which training targets are smoothed (Drop); other l_y train on the labels.
    """
    operator = smoothing_matrix(graph, smoothing)
    targets = {
        steps: TrainingTargets.of_labels(labels.train_nodes, smoothed_targets(labels, operator, steps), labels.classes)
        for steps in dropped
        if steps
    }
    return Problem(graph, features, labels, seed, smoothing=operator, targets=targets)
