from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tasks.datasets.splits import Split
from tasks.errors import UserError
from tasks.reports.edge import EdgeReport
from tasks.reports.feature import FeatureReport
from tasks.reports.label import LabelReport
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import perturb_edges, perturb_features, report_labels
from tasks.steps.report_point import REPORT, ledger_lines
from tasks.steps.split import SPLIT, split
from tasks.store import PointRef, PointStore

Declare = Callable[..., RawSource]


def edges(store: PointStore, source: RawSource, **changes: Any) -> PointRef:
    arguments = {"mode": "directed", "eps_a": "2", "repeat": 0, "seed": 0, "memory_limit_mb": 100, **changes}
    return perturb_edges.plain(store, source, **arguments)  # type: ignore[attr-defined]


def features(store: PointStore, source: RawSource, **changes: Any) -> PointRef:
    arguments = {"eps_x": "1", "repeat": 0, "seed": 0, **changes}
    return perturb_features.plain(store, source, **arguments)  # type: ignore[attr-defined]


def labels(store: PointStore, source: RawSource) -> tuple[PointRef, PointRef]:
    parts = split.plain(store, source, 0, 0)  # type: ignore[attr-defined]
    return parts, report_labels.plain(store, source, parts, repeat=0)  # type: ignore[attr-defined]


def files(ref: PointRef) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in ref.folder.iterdir()}


@pytest.mark.parametrize("draw", [edges, features])
@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_draws_the_same_bytes_in_another_store(
    tmp_path: Path, store: PointStore, source: RawSource, draw: Callable[..., PointRef], seed: int
) -> None:
    here = draw(store, source, seed=seed)
    there = draw(PointStore(tmp_path / "other"), source, seed=seed)
    assert not there.cached
    assert files(here) == files(there)


@pytest.mark.parametrize("draw", [edges, features])
def test_another_seed_or_repeat_draws_other_noise(
    store: PointStore, source: RawSource, draw: Callable[..., PointRef]
) -> None:
    points = [draw(store, source), draw(store, source, seed=1), draw(store, source, repeat=1)]
    assert len({point.content for point in points}) == 3
    assert draw(store, source).cached


def test_only_a_changed_budget_is_drawn_again(store: PointStore, source: RawSource) -> None:
    grid = {eps: edges(store, source, eps_a=eps) for eps in ("1", "2")}
    assert all(edges(store, source, eps_a=eps).cached for eps in grid)
    assert not edges(store, source, eps_a="3").cached


def test_without_a_seed_noise_is_drawn_once_and_cannot_be_drawn_again(
    tmp_path: Path, store: PointStore, source: RawSource
) -> None:
    first = edges(store, source, seed=None)
    assert edges(store, source, seed=None).cached
    assert edges(PointStore(tmp_path / "other"), source, seed=None).content != first.content
    (line,) = ledger_lines(first)
    assert line.guarantee
    assert "2-edge-LDP" in line.statement
    (seeded,) = ledger_lines(edges(store, source))
    assert (seeded.simulated, seeded.guarantee) == (True, False)


def test_inf_is_the_identity(store: PointStore, source: RawSource) -> None:
    graph = source.load()
    reported = EdgeReport.load(edges(store, source, eps_a="inf").file(REPORT)).adjacency()
    assert (reported != graph.adjacency).nnz == 0
    exact = FeatureReport.load(features(store, source, eps_x="inf").file(REPORT)).exact
    assert np.array_equal(exact.toarray(), graph.features.toarray())


@pytest.mark.parametrize("mode", ["directed-no-diagonal", "pair"])
def test_every_mode_is_a_point_of_its_own(store: PointStore, source: RawSource, mode: str) -> None:
    point = edges(store, source, mode=mode)
    assert EdgeReport.load(point.file(REPORT)).mode == mode
    assert point.digest != edges(store, source).digest


def test_labels_are_those_of_training_and_validation_alone(store: PointStore, source: RawSource) -> None:
    parts, point = labels(store, source)
    report, dealt = LabelReport.load(point.file(REPORT)), Split.load(parts.file(SPLIT))
    truth = source.load().labels
    assert report.train_nodes.tolist() == sorted(dealt.train.tolist())
    assert report.validation_nodes.tolist() == sorted(dealt.validation.tolist())
    assert np.array_equal(report.train_labels, truth[report.train_nodes])
    assert np.array_equal(report.validation_labels, truth[report.validation_nodes])


def test_every_report_has_its_line_in_the_ledger(store: PointStore, source: RawSource) -> None:
    points = [edges(store, source), features(store, source), labels(store, source)[1]]
    lines = [line for point in points for line in ledger_lines(point)]
    assert [(line.deployment_key, line.epsilon) for line in lines] == [
        ("edges", "2"),
        ("features", "1"),
        ("labels", "inf"),
    ]
    assert {line.dataset for line in lines} == {"friends"}


def test_nothing_about_a_private_graph_is_in_a_description(
    store: PointStore, secret_source: RawSource, own_files: Path
) -> None:
    parts, clear = labels(store, secret_source)
    raw = [hashlib.sha256(path.read_bytes()).hexdigest() for path in own_files.iterdir()]
    for point in (edges(store, secret_source), features(store, secret_source), clear):
        text = point.file("meta.json").read_text()
        meta = json.loads(text)
        assert meta["key"] is None
        assert set(meta["files"]) == {"report.npz", "ledger.json"}
        for digest in (secret_source.content, parts.content, *raw):
            assert digest not in text


def test_a_private_report_is_the_same_draw_as_a_public_one(
    store: PointStore, source: RawSource, secret_source: RawSource
) -> None:
    """Privacy changes where digests go, never the mechanism."""
    public, private = edges(store, source), edges(store, secret_source)
    assert public.digest != private.digest
    assert np.array_equal(*[EdgeReport.load(point.file(REPORT)).indices for point in (public, private)])


def test_what_a_graph_lacks_is_one_line(store: PointStore, declare: Declare) -> None:
    with pytest.raises(UserError, match=r"friends.*node features"):
        features(store, declare(features=None, feature_bounds=None))
    with pytest.raises(UserError, match=r"features\.csv.*feature_bounds"):
        features(store, declare(feature_bounds=(0.0, 0.5)))
    with pytest.raises(UserError, match=r"eps_a 0.1.*memory_limit_mb=1"):
        edges(store, declare(nodes=100_000, features=None), eps_a="0.1", memory_limit_mb=1)
    assert list((store.root / "temporary").iterdir()) == []
