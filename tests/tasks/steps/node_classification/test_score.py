from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tasks.curator.methods import METHODS, method_named
from tasks.curator.trained import Trained
from tasks.datasets.splits import Split
from tasks.errors import UserError
from tasks.parameters.classification import NodeClassification
from tasks.reports.edge import EdgeReport
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import perturb_edges, perturb_features, report_labels
from tasks.steps.node_classification.score import read_metrics, score
from tasks.steps.node_classification.search import TRAINED, search
from tasks.steps.report_point import REPORT
from tasks.steps.split import SPLIT, split
from tasks.store import PointRef, PointStore

Declare = Callable[..., RawSource]


def pipeline(store: PointStore, source: RawSource, eps_a: str = "2", method: str = "base") -> dict[str, PointRef]:
    """Every point from the split to the score."""
    edges = {"mode": "directed", "eps_a": eps_a, "repeat": 0, "seed": 0, "memory_limit_mb": 100}
    grid = NodeClassification(datasets=["friends"], eps_x=["1"], eps_a=[eps_a], search={"epochs": 3})  # type: ignore[arg-type]
    own: dict[str, Any] = {"dataset": "friends", "method": method, "backbone": "gcn", "repeat": 0, "seed": 0}
    points: dict[str, PointRef] = {"split": split.plain(store, source, 0, 0)}  # type: ignore[attr-defined]
    reports = {
        "edges": perturb_edges.plain(store, source, **edges),  # type: ignore[attr-defined]
        "features": perturb_features.plain(store, source, eps_x="1", repeat=0, seed=0),  # type: ignore[attr-defined]
        "labels": report_labels.plain(store, source, points["split"], repeat=0),  # type: ignore[attr-defined]
    }
    points |= reports
    points["trained"] = search.plain(store, **reports, **own, device="cpu", study=grid)  # type: ignore[attr-defined]
    points["score"] = judge(store, source, points, method)
    return points


def judge(store: PointStore, source: RawSource, points: dict[str, PointRef], method: str = "base") -> PointRef:
    needed = {name: points[name] for name in ("split", "edges", "trained")}
    return score.plain(store, source, **needed, method=method, label="friends")  # type: ignore[attr-defined]


def test_accuracy_and_noise_are_those_of_a_dense_count(store: PointStore, source: RawSource) -> None:
    points = pipeline(store, source)
    metrics = read_metrics(points["score"])
    graph, test = source.load(), Split.load(points["split"].file(SPLIT)).test
    predicted = Trained.load(points["trained"].file(TRAINED)).log_probabilities.argmax(axis=1)
    reported = EdgeReport.load(points["edges"].file(REPORT)).adjacency().toarray()
    assert metrics["accuracy"] == pytest.approx(np.mean(predicted[test] == graph.labels[test]))
    assert metrics["noise_edges"] == ((reported == 1) & (graph.adjacency.toarray() == 0)).sum()
    assert metrics["mean_degree"] == pytest.approx(reported.sum() / 90)
    assert set(metrics) == {"accuracy", "macro_f1", "noise_edges", "mean_degree", "search_points"}
    assert metrics["search_points"] == len(Trained.load(points["trained"].file(TRAINED)).search)


@pytest.mark.parametrize("method", ["solitude", "mutual", "bayes-soft"])
def test_a_calibrated_graph_is_compared_with_the_true_one(store: PointStore, source: RawSource, method: str) -> None:
    points = pipeline(store, source, method=method)
    metrics = read_metrics(points["score"])
    graph, report = source.load(), EdgeReport.load(points["edges"].file(REPORT)).adjacency().toarray()
    reported = (report == 1) & ~np.eye(len(report), dtype=bool)
    weights = method_named(method).calibrated_graph(EdgeReport.load(points["edges"].file(REPORT))).toarray()
    if method == "solitude":
        rows, columns = np.nonzero(report)
        weights = np.zeros(report.shape)
        weights[rows, columns] = Trained.load(points["trained"].file(TRAINED)).weights["edge_weights"]
    truth = graph.adjacency.toarray() == 1
    np.fill_diagonal(weights, 0)
    assert metrics["edge_auc"] == pytest.approx(roc_auc_score(truth[reported], weights[reported]))
    assert metrics["true_edges_kept"] == pytest.approx((weights[truth] > 0).mean())
    assert metrics["false_edges_kept"] == (weights[~truth] > 0).sum()


@pytest.mark.parametrize("eps_a", ["2", "40", "inf"])
def test_the_edge_count_of_a_private_graph_is_not_given_away(
    store: PointStore, secret_source: RawSource, eps_a: str
) -> None:
    points = pipeline(store, secret_source, eps_a)
    # At 40 not one bit flips: the report's mean degree is the graph's.
    reported = EdgeReport.load(points["edges"].file(REPORT)).adjacency()
    assert ((reported != secret_source.load().adjacency).nnz == 0) == (eps_a != "2")
    assert set(read_metrics(points["score"])) == {"accuracy", "macro_f1", "search_points"}
    text = points["score"].file("meta.json").read_text()
    assert '"key": null' in text
    assert secret_source.content not in text


@pytest.mark.parametrize("method", sorted(METHODS))
def test_test_labels_change_the_score_and_nothing_else(
    store: PointStore, source: RawSource, declare: Declare, own_files: Path, tmp_path: Path, method: str
) -> None:
    before = pipeline(store, source, method=method)
    test = Split.load(before["split"].file(SPLIT)).test
    names = dict(line.split(",") for line in (own_files / "labels.csv").read_text().splitlines()[1:])
    rotated = np.roll([names[str(node)] for node in test], 1)
    names |= {str(node): name for node, name in zip(test, rotated, strict=True)}
    (tmp_path / "labels.csv").write_text("\n".join(f"{node},{name}" for node, name in names.items()))
    after = pipeline(store, declare(labels=tmp_path / "labels.csv"), method=method)
    for name in ("split", "edges", "features", "labels"):
        assert after[name].digest != before[name].digest
        assert after[name].content == before[name].content
    # Reports that say the same are the same input: the curator does not even train again.
    assert (after["trained"].digest, after["trained"].cached) == (before["trained"].digest, True)
    if method == "base":  # three epochs of the others may put all nodes in one class, which scores the same
        assert after["score"].content != before["score"].content


def test_a_graph_without_labels_has_no_score(store: PointStore, source: RawSource) -> None:
    points = pipeline(store, source)
    assert source.own
    bare = dataclasses.replace(source, content="x", own=dataclasses.replace(source.own, labels=None))
    with pytest.raises(UserError, match=r"friends.*labels"):
        judge(store, bare, points)
