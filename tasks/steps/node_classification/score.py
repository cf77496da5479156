"""Step of the evaluation: the only place where test labels and the true graph meet a result."""

from __future__ import annotations

import json
from dataclasses import asdict

from scipy.sparse import csr_array

from tasks.curator.methods import Method, method_named
from tasks.curator.trained import Trained
from tasks.datasets.graph import RawGraph
from tasks.datasets.splits import Split
from tasks.errors import UserError
from tasks.evaluation.node_classification.edge_recovery import mean_degree, noise_edges
from tasks.reports.edge import EdgeReport
from tasks.steps.declaration import Draft, Given
from tasks.steps.node_classification.search import TRAINED
from tasks.steps.point import point
from tasks.steps.raw_source import RawSource
from tasks.steps.report_point import REPORT
from tasks.steps.split import SPLIT
from tasks.store import PointRef

METRICS = "metrics.json"


def _decided(of: Given) -> dict[str, object]:
    return {
        "trained": [of.trained.content, of.file],
        "method": asdict(method_named(of.method)),
        # Points of private graphs that older versions scored hold the degree; they are not found any more.
        **({"figures": "of predictions alone"} if of.source.private else {}),
    }


@point(
    label="score {label}",
    ignore=("label", "file"),
    also=_decided,
    code=lambda of, named: named.union(method_named(of.method).modules),
)
def score(
    draft: Draft,
    source: RawSource,
    split: PointRef,
    edges: PointRef,
    trained: PointRef,
    *,
    method: str,
    label: str,
    file: str = TRAINED,
) -> None:
    """Accuracy and macro-F1 on the test nodes, and how many configurations the search compared.

    For public sets also how much noise the report holds and, where the method calibrates the graph, how well the
    calibrated weights tell true from false edges. Of a private graph nothing is counted: where noise is little, the
    degree of the report is that of the graph. ``file`` is the model's among the files of ``trained``.
    """
    # Imported on demand, as below: scikit-learn takes a second, which a stored point need not wait for.
    from tasks.evaluation.node_classification.scoring import score as score_predictions

    graph = source.load()
    if not isinstance(graph, RawGraph) or graph.labels is None:
        raise UserError(f"{source.name} has no labels to score against")
    test = Split.load(split.file(SPLIT)).test
    model = Trained.load(trained.file(file))
    metrics = dict(score_predictions(model.log_probabilities, test, graph.labels[test], graph.classes))
    metrics["search_points"] = len(model.search)
    if not source.private:
        report = EdgeReport.load(edges.file(REPORT))
        metrics["mean_degree"] = mean_degree(report)
        metrics["noise_edges"] = noise_edges(graph, report)
        metrics |= _edges_told_decided(graph, report, method_named(method), model)
    draft.file(METRICS).write_text(json.dumps(metrics, sort_keys=True) + "\n")


def _edges_told_decided(graph: RawGraph, report: EdgeReport, method: Method, model: Trained) -> dict[str, float]:
    """AUC and shares of the directed entries; nothing for a method that takes the graph as reported."""
    calibrated = method.calibrated_graph(report)
    if method.joint:
        pattern = (calibrated.indices, calibrated.indptr)
        calibrated = csr_array((model.weights["edge_weights"], *pattern), shape=calibrated.shape)
    elif method.graph == "reported":
        return {}
    from tasks.evaluation.node_classification.denoising import denoising

    found = denoising(graph, report, calibrated)
    shares = {
        "true_edges_kept": found.true_kept / max(found.true_kept + found.true_lost, 1),
        "false_edges_kept": found.false_kept,
    }
    return shares if found.auc is None else {"edge_auc": found.auc, **shares}


def read_metrics(scored: PointRef) -> dict[str, float]:
    """The metrics of a scored point."""
    return dict(json.loads(scored.file(METRICS).read_text()))
