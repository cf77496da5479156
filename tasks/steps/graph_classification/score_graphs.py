"""Step on the researcher's bench: the only place where classes of test graphs meet a prediction."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tasks.code_version import code_version
from tasks.datasets.splits import Split
from tasks.evaluation.graph_classification.graph_scoring import score_classes
from tasks.steps.download import RawSource
from tasks.steps.graph_classification.embed_graphs import PREDICTIONS
from tasks.steps.graph_classification.graph_sets import graph_set
from tasks.steps.node_classification.score import METRICS
from tasks.steps.point import point_task
from tasks.steps.split import SPLIT
from tasks.store import PointRef, PointStore


@point_task()
def score_graphs(store: PointStore, source: RawSource, split: PointRef, predicted: PointRef, *, label: str) -> PointRef:
    """Accuracy and macro-F1 on the test graphs; read with ``tasks.steps.node_classification.score.read_metrics``."""

    def compute(folder: Path) -> None:
        test = Split.load(split.file(SPLIT)).test
        metrics = score_classes(np.load(predicted.file(PREDICTIONS)), test, graph_set(source).labels[test])
        (folder / METRICS).write_text(json.dumps(metrics, sort_keys=True) + "\n")

    key = {
        "step": "score graphs",
        "raw": source.content,
        "split": split.content,
        "predicted": predicted.content,
        "code": code_version("tasks.evaluation.graph_classification.graph_scoring"),
    }
    return store.point(key, compute, label=f"score {label}", private=source.private)
