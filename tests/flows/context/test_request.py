"""A command's help and every refusal come before any server starts or a heavy library is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.context.request import StudyRequest
from flows.studies.requests import check_request
from flows.system.environment import PACKAGE_ROOT
from tasks.errors import UserError

HEAVY = {"dask", "dgl", "matplotlib", "mlflow", "numba", "pandas", "prefect", "scipy", "sklearn", "torch"}
PROGRAM = f"""
import atexit, runpy, sys
atexit.register(lambda: sys.stderr.write("imported: " + " ".join({HEAVY} & set(sys.modules))))
runpy._run_module_as_main("flows." + sys.argv.pop(1), alter_argv=False)
"""

STUDIES = ["node_classification", "graph_classification", "ego_clustering", "node_embedding"]
WITHOUT_STUDY = ["report", "measured", "relog", "attacks", "audit", "ui", "worker", "deployments"]
STAGES = [*STUDIES, "download", "perturb", "sweep"]
LISTENS_NOWHERE = "http://127.0.0.1:9/api"


def run(root: Path, command: str, *arguments: str, **environment: str) -> tuple[int, list[str]]:
    """Exit status and lines on standard error, of a program that imported nothing heavy and started no server."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "MLFLOW_", "DVC_"))}
    own = {"DVC_ROOT": str(root), "POINT_STORE": str(root / "store"), **environment}
    program = [sys.executable, "-c", PROGRAM, command, *arguments]
    done = subprocess.run(program, cwd=PACKAGE_ROOT, env=given | own, capture_output=True, text=True, check=False)
    *lines, imported = done.stderr.splitlines()
    assert imported == "imported: ", done.stderr
    assert not (root / ".prefect/server.json").exists()
    return done.returncode, lines


@pytest.mark.parametrize("command", [*STAGES, *WITHOUT_STUDY, "dask_worker"])
def test_help_imports_nothing_heavy(command: str, tmp_path: Path) -> None:
    assert run(tmp_path, command, "--help") == (0, [])


REFUSED = [
    *((stage, ["--dataset", "nope"], "'nope' is unknown") for stage in STAGES),
    ("perturb", ["--profile", "nope"], "'nope' is unknown"),
    ("node_classification", ["--dataset", "mutag"], "mutag has no single class per node"),
    ("node_embedding", ["--dataset", "mutag"], "mutag is a set of graphs"),
    ("graph_classification", ["--dataset", "cora"], "cora is one graph"),
    ("ego_clustering", ["--dataset", "ppi"], "ppi has no class"),
    ("node_classification", ["--set", "sede=1"], "demo.sede"),
    ("node_classification", ["--set", 'node_classification.methods=["nope"]'], "'nope' is unknown"),
    ("node_classification", ["--set", "node_classification.eps_a=[-7]"], "-7 is negative"),
    ("node_classification", ["--set", 'runner="dask"', "--set", 'dask_address="tcp://127.0.0.1:9"'], "127.0.0.1:9"),
    ("node_classification", ["--json", "/dev/null/rows.json"], "--json /dev/null/rows.json"),
    ("node_classification", ["--set", "node_classification.budget=0.5"], "above the declared budget 0.5"),
    ("node_embedding", ["--set", "node_embedding.budget=2"], "above the declared budget 2"),
    ("graph_classification", ["--set", "graph_classification.budget=10"], "above the declared budget 10"),
    ("sweep", ["--study", "graph_classification", "--eps-x", "3"], "no eps_x"),
    ("sweep", ["--methods", "nope"], "'nope' is unknown"),
    ("relog", ["--dataset", "nope"], "'nope' is unknown"),
    ("report", ["--profile", "nope"], "'nope' is unknown"),
    ("measured", ["kept", "nowhere.json"], "nowhere.json: cannot be read"),
    ("attacks", ["--dataset", "nope"], "'nope' is unknown"),
    ("attacks", ["--dataset", "mutag", "--eps-a", "7"], "mutag is a set of graphs"),
    ("attacks", ["--csv", "/dev/null/table.csv"], "--csv /dev/null/table.csv"),
    ("audit", ["--seed", "-1"], "--seed -1"),
    ("ui", ["up", "--host", "nope"], "--host nope"),
    ("worker", [], "PREFECT_API_URL"),
    ("deployments", [], "PREFECT_API_URL"),
]


@pytest.mark.parametrize(("command", "arguments", "says"), REFUSED, ids=lambda given: str(given)[:40])
def test_a_wrong_request_is_refused_in_one_line(command: str, arguments: list[str], says: str, tmp_path: Path) -> None:
    status, (line,) = run(tmp_path, command, *arguments)
    assert status == 2
    assert line.startswith("error: ") and says in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["node_classification", "worker", "deployments"])
def test_so_is_a_server_that_nobody_reaches(command: str, tmp_path: Path) -> None:
    status, (line,) = run(tmp_path, command, PREFECT_API_URL=LISTENS_NOWHERE)
    assert status == 2
    assert f"PREFECT_API_URL={LISTENS_NOWHERE}" in line


def test_so_is_a_store_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status, (line,) = run(tmp_path, "node_classification", POINT_STORE=str(tmp_path / "file" / "store"))
    assert status == 2
    assert "POINT_STORE" in line


@pytest.mark.parametrize(
    ("changes", "export", "says"),
    [
        ({"edges": "nowhere.csv"}, False, "nowhere.csv: cannot be read"),
        ({"labels": "."}, False, "unknown kind of file"),
        ({"labels": None}, False, "friends has no single class per node"),
        ({"feature_bounds": None}, False, "feature_bounds"),
        ({}, True, "'friends' is private"),
    ],
)
def test_so_is_a_graph_of_ones_own_by_its_declaration(
    declare: Callable[..., None], changes: dict[str, Any], export: bool, says: str
) -> None:
    declare(**changes)
    with pytest.raises(UserError, match=says):
        check_request("node_classification", StudyRequest(datasets=["friends"], export=export))


@pytest.mark.parametrize(("budget", "refused"), [(7.5, True), (8, False)])
def test_features_that_no_line_reads_are_reported_for_their_width_and_paid_for(budget: float, refused: bool) -> None:
    grid = {"methods": ["label-propagation"], "eps_a": [7], "eps_x": [1], "parts": [], "searches": {}, "budget": budget}
    overrides = [f"node_classification.{key}={json.dumps(value)}" for key, value in grid.items()]
    request = StudyRequest(datasets=["digits"], overrides=overrides)
    if refused:
        with pytest.raises(UserError, match=r"7\.5"):
            check_request("node_classification", request)
    else:
        assert check_request("node_classification", request).datasets == ["digits"]
