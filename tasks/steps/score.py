"""Step on the researcher's bench: the only place where test labels and the true graph meet a result."""

from __future__ import annotations

import json
from pathlib import Path

from tasks.code_version import code_version
from tasks.curator.trained import Trained
from tasks.datasets.graph import RawGraph
from tasks.datasets.splits import Split
from tasks.epsilon import INFINITE
from tasks.errors import UserError
from tasks.evaluation.edge_recovery import mean_degree, noise_edges
from tasks.evaluation.scoring import score as score_predictions
from tasks.reports.edge import EdgeReport
from tasks.steps.download import RawSource
from tasks.steps.perturb import REPORT
from tasks.steps.point_task import point_task
from tasks.steps.search import TRAINED
from tasks.steps.split import SPLIT
from tasks.store import PointRef, PointStore

METRICS = "metrics.json"


@point_task()
def score(
    store: PointStore, source: RawSource, split: PointRef, edges: PointRef, trained: PointRef, *, label: str
) -> PointRef:
    """Accuracy and macro-F1 on the test nodes; for public sets also how much noise the report holds."""

    def compute(folder: Path) -> None:
        graph = source.load()
        if not isinstance(graph, RawGraph) or graph.labels is None:
            raise UserError(f"{source.name} has no labels to score against")
        test = Split.load(split.file(SPLIT)).test
        log_probabilities = Trained.load(trained.file(TRAINED)).log_probabilities
        metrics = dict(score_predictions(log_probabilities, test, graph.labels[test], graph.classes))
        report = EdgeReport.load(edges.file(REPORT))
        if not source.private or report.epsilon != INFINITE:
            metrics["mean_degree"] = mean_degree(report)  # without noise it is the edge count
        if not source.private:
            metrics["noise_edges"] = noise_edges(graph, report)
        (folder / METRICS).write_text(json.dumps(metrics, sort_keys=True) + "\n")

    key = {
        "step": "score",
        "raw": source.content,
        "split": split.content,
        "edges": edges.content,
        "trained": trained.content,
        "code": [code_version("tasks.evaluation.scoring"), code_version("tasks.evaluation.edge_recovery")],
    }
    return store.point(key, compute, label=f"score {label}", private=source.private)


def read_metrics(point: PointRef) -> dict[str, float]:
    """The metrics of a scored point."""
    return dict(json.loads(point.file(METRICS).read_text()))
