from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml

from tasks.reports.ledgers.ledger import Ledger
from tasks.reports.ledgers.ledger_line import local_privacy_line
from tasks.reports.ledgers.units import spent_on_bits
from tasks.steps.sides import forks


@pytest.fixture(scope="session")
def served_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One project folder for all tests with a real server: its database is laid out once, which takes ten seconds."""
    return tmp_path_factory.mktemp("served")


def wait_until(condition: Callable[[], object], seconds: float = 300.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


@pytest.fixture(name="wait_until")
def _wait_until() -> Callable[..., None]:
    return wait_until


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """plant("...") has the processes that compute for private sets run this code as they start; its folder."""

    def planted(code: str) -> Path:
        folder = tmp_path / "planted"
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(code)
        monkeypatch.syspath_prepend(folder)
        forks.stop()
        return folder

    yield planted
    forks.stop()


GRID: dict[str, Any] = {
    "repeats": 2,
    "runner": "threads",
    "workers": 2,
    "device": "cpu",
    "node_classification": {
        "datasets": ["digits"],
        "eps_x": [1],
        "eps_a": [8],
        "backbones": ["gcn"],
        "search": {"learning_rate": [0.1], "epochs": 2},
    },
}


@pytest.fixture(scope="session")
def _mlflow_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One MLflow database for all tests of flows: laying it out takes seconds."""
    return tmp_path_factory.mktemp("mlflow")


@pytest.fixture
def workspace(tmp_path: Path, own_files: Path, _mlflow_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project's folder: a small grid, the small graph's files, a point store of its own; no server is asked."""
    folder = tmp_path / "workspace"
    shutil.copytree(own_files, folder)
    write_parameters(folder)
    with mock.patch.dict(os.environ):
        for name in [name for name in os.environ if name.startswith(("PREFECT_", "MLFLOW_", "DVC_"))]:
            del os.environ[name]
        os.environ["DVC_ROOT"] = str(folder)
        os.environ["POINT_STORE"] = str(tmp_path / "store")
        os.environ.setdefault("NUMBA_CACHE_DIR", str(_mlflow_folder / "numba"))  # not in the workspace
        os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{_mlflow_folder / 'mlflow.db'}"
        monkeypatch.setattr("flows.context.project.WORKSPACE", folder)
        yield folder


def write_parameters(folder: Path, datasets: dict[str, Any] | None = None, **changes: Any) -> None:
    """params.yaml with the small grid; changes are of the profile or, for dicts, of its study."""
    study = {**GRID["node_classification"], **changes.pop("node_classification", {})}
    profile = {**GRID, **changes, "node_classification": study}
    tree = {"demo": profile, "paper": GRID, "datasets": datasets or {}}
    (folder / "params.yaml").write_text(yaml.safe_dump(tree))


@pytest.fixture
def declare(workspace: Path) -> Callable[..., None]:
    """declare(private=False) puts the small graph into params.yaml as `friends`, or by another name."""

    def declared(name: str = "friends", **changes: Any) -> None:
        files = {part: f"{part}.csv" for part in ("edges", "features", "labels")}
        write_parameters(workspace, {name: {**files, "feature_bounds": [0, 1], **changes}})

    return declared


def edge_ledger(dataset: str, words: str = "several edges of one list together") -> Ledger:
    """The ledger of a data set's neighbour lists, reported at 7 and without noise."""
    return Ledger(
        tuple(
            local_privacy_line(
                mechanism="randomised response (directed)",
                dataset=dataset,
                deployment_key="edges",
                report_key=f"{dataset} {eps_a}",
                epsilon=eps_a,
                unit="neighbour list (one edge)",
                claim=f"{eps_a}-edge-LDP",
                not_protected=words,
                simulated=True,
                spends=spent_on_bits(eps_a, 2),
            )
            for eps_a in ("7", "inf")
        )
    )


def write_report(profile: str) -> str:
    """The report of a profile's results, as its command writes it; returns the summary."""
    from flows.context.request import StudyRequest
    from flows.results.files import result_files
    from flows.results.report import report
    from flows.studies.registry import STUDIES
    from flows.studies.requests import read_request

    parameters = getattr(read_request(StudyRequest(profile=profile)), profile)
    return report(profile, parameters, STUDIES, result_files(profile, STUDIES))
