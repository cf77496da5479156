"""Step of the evaluation: the only place where classes of test graphs meet a prediction."""

from __future__ import annotations

import json

import numpy as np

from tasks.datasets.splits import Split
from tasks.evaluation.graph_classification.graph_scoring import score_classes
from tasks.steps.declaration import Draft
from tasks.steps.graph_classification.embed_graphs import PREDICTIONS
from tasks.steps.graph_classification.graph_sets import graph_set
from tasks.steps.node_classification.score import METRICS
from tasks.steps.point import point
from tasks.steps.raw_source import RawSource
from tasks.steps.split import SPLIT
from tasks.store import PointRef


@point(label="score {label}", ignore=("label",))
def score_graphs(draft: Draft, source: RawSource, split: PointRef, predicted: PointRef, *, label: str) -> None:
    """Accuracy and macro-F1 on the test graphs; read with ``tasks.steps.node_classification.score.read_metrics``."""
    test = Split.load(split.file(SPLIT)).test
    metrics = score_classes(np.load(predicted.file(PREDICTIONS)), test, graph_set(source).labels[test])
    draft.file(METRICS).write_text(json.dumps(metrics, sort_keys=True) + "\n")
