"""A run against the expected one: what is found, what status it gets, and which step is named."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.verify import NOT_COMPARABLE, NOT_COVERED, NOT_REPRODUCED, REPRODUCED, TOLERANCE, demo, verdict
from tasks.errors import UserError
from tasks.store import PointStore

PARAMETERS = "demo:\n  seed: 0\n  node_classification:\n    datasets: [set]\npaper:\n  seed: 1\n"
PLACES = {"raw": "set", "noisy": "node_classification/set", "results": "node_classification/set/points"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a chain of three points whose labels sort against their order, and one metric."""
    (tmp_path / "params.yaml").write_text(PARAMETERS)
    store = PointStore(tmp_path / "store")
    content = ""
    for label, kind in (("z raw", "raw"), ("m noisy", "noisy"), ("a model", "results")):
        made_from = content

        def compute(folder: Path, text: str = label) -> None:
            (folder / "file").write_text(text)

        ref = store.point({"step": kind, "inputs": {"one": made_from}}, compute, label=label)
        store.export([ref], tmp_path / "data" / kind / "demo" / PLACES[kind])
        content = ref.content
    metrics = tmp_path / "data/results/demo/node_classification/set/metrics.json"
    metrics.write_text(json.dumps({"base eps=1": {"accuracy": 0.5, "edges": 2000.0}}))
    return tmp_path


def test_points_come_in_the_order_of_their_computation(root: Path) -> None:
    found = demo(root)
    assert list(found["points"]) == ["z raw", "m noisy", "a model"]
    line = "node_classification set base eps=1"
    assert found["metrics"] == {f"{line} accuracy": 0.5, f"{line} edges": 2000.0}


def test_the_same_run_is_reproduced(root: Path) -> None:
    status, line = verdict(demo(root), demo(root), "")
    assert status == REPRODUCED
    assert "3 points" in line


def changed(run: dict[str, Any], labels: tuple[str, ...], accuracy: float = 0.0, edges: float = 0.0) -> dict[str, Any]:
    other = copy.deepcopy(run)
    for label in labels:
        other["points"][label] = ["0" * 64]
    other["metrics"]["node_classification set base eps=1 accuracy"] += accuracy
    other["metrics"]["node_classification set base eps=1 edges"] += edges
    return other


@pytest.mark.parametrize(
    ("accuracy", "edges", "status"),
    [
        (0.0, 0.0, REPRODUCED),
        (-0.9 * TOLERANCE, 0.0, REPRODUCED),
        (0.0, 0.9 * TOLERANCE * 2000, REPRODUCED),
        (1.1 * TOLERANCE, 0.0, NOT_REPRODUCED),
        (0.0, -1.1 * TOLERANCE * 2000, NOT_REPRODUCED),
    ],
)
def test_other_bytes_are_judged_by_their_metrics_and_the_first_is_named(
    root: Path, accuracy: float, edges: float, status: int
) -> None:
    expected = demo(root)
    found = changed(expected, ("a model", "m noisy"), accuracy, edges)
    given, line = verdict(expected, found, "")
    assert given == status
    assert "m noisy" in line
    assert "a model" not in line


def test_a_missing_point_or_metric_is_not_reproduced(root: Path) -> None:
    expected = demo(root)
    without_metric = copy.deepcopy(expected)
    del without_metric["metrics"]["node_classification set base eps=1 edges"]
    assert verdict(expected, without_metric, "")[0] == NOT_REPRODUCED
    without_point = changed(expected, (), accuracy=0.5)
    del without_point["points"]["m noisy"]
    status, line = verdict(expected, without_point, "")
    assert status == NOT_REPRODUCED
    assert "m noisy" in line


def test_a_machine_that_is_not_covered_says_so_beside_what_was_found(root: Path) -> None:
    expected = demo(root)
    for found in (expected, changed(expected, ("z raw",), accuracy=0.3)):
        status, line = verdict(expected, found, "no AVX2")
        assert status == NOT_COVERED
        assert "no AVX2" in line


def test_other_parameters_of_the_demo_leave_nothing_to_compare(root: Path) -> None:
    expected = demo(root)
    (root / "params.yaml").write_text(PARAMETERS.replace("paper:\n  seed: 1", "paper:\n  seed: 2"))
    assert verdict(expected, demo(root), "")[0] == REPRODUCED
    (root / "params.yaml").write_text(PARAMETERS.replace("demo:\n  seed: 0", "demo:\n  seed: 1"))
    assert verdict(expected, demo(root), "")[0] == NOT_COMPARABLE


def test_no_run_and_damaged_files_are_one_line(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    empty = tmp_path_factory.mktemp("empty")
    with pytest.raises(UserError, match=r"params\.yaml"):
        demo(empty)
    (empty / "params.yaml").write_text(PARAMETERS)
    with pytest.raises(UserError, match="make run"):
        demo(empty)
    (root / "data/results/demo/node_classification/set/metrics.json").write_text("{")
    with pytest.raises(UserError, match=r"metrics\.json"):
        demo(root)


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_text("other")])
def test_a_file_that_is_not_what_its_point_says_is_another_result(root: Path, damage: Callable[[Path], object]) -> None:
    expected = demo(root)
    (file,) = (root / "data/results").rglob("file")
    file.chmod(0o644)
    damage(file)
    assert "a model" in verdict(expected, demo(root), "")[1]


def test_what_the_demo_does_not_have_is_not_compared(root: Path) -> None:
    expected = demo(root)
    for place in ("ego_clustering/set", "node_classification/another"):
        more = root / "data/results/demo" / place
        more.mkdir(parents=True)
        (more / "metrics.json").write_text(json.dumps({"base eps=1": {"accuracy": 0.1}}))
    assert demo(root) == expected


def test_points_that_share_a_label_are_all_compared(root: Path) -> None:
    store = PointStore(root / "store")

    def compute(folder: Path) -> None:
        (folder / "file").write_text("another")

    twin = store.point({"step": "results", "inputs": {}}, compute, label="a model")
    store.export([twin], root / "data/results/demo/node_classification/set/more")
    found = demo(root)
    assert len(found["points"]["a model"]) == 2
    expected = copy.deepcopy(found)
    expected["points"]["a model"][1] = "0" * 64
    assert "a model" in verdict(expected, found, "")[1]
