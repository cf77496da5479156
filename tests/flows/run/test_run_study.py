"""The study under Prefect, with the project's own local server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import httpx
import pytest

from flows.context.request import StudyRequest
from flows.run import run_study as run
from flows.run.command_line import main
from flows.server.leases import LeaseFolder
from flows.studies.registry import declared
from flows.studies.requests import check_request
from flows.system.environment import PACKAGE_ROOT
from tasks.errors import Interrupted

STUDY = "node_classification"
GRID = [
    "seed=31",
    "repeats=1",
    f'{STUDY}.datasets=["digits"]',
    f'{STUDY}.methods=["base"]',
    f'{STUDY}.backbones=["gcn"]',
    f"{STUDY}.eps_x=[1]",
    f"{STUDY}.eps_a=[8]",
    f'{STUDY}.search={{"learning_rate": [0.1], "epochs": 2}}',
]


def command(root: Path, store: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # The first run pays for the start of the server, the others find it: it waits long enough for them.
    own = {"DVC_ROOT": str(root), "POINT_STORE": str(store), "PREFECT_SERVER_IDLE_SECONDS": "5"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "MLFLOW_"))}
    program = [sys.executable, "-m", f"flows.{STUDY}", *(f"--set={item}" for item in GRID), *arguments]
    return subprocess.run(program, cwd=PACKAGE_ROOT, env=environment | own, capture_output=True, text=True, check=False)


def test_prefect_and_the_plain_pool_give_the_same_rows_and_share_the_points(
    served_root: Path, tmp_path: Path, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    served = command(served_root, tmp_path / "served", "--json", str(tmp_path / "served.json"))
    assert served.returncode == 0, served.stderr
    assert "computed in" in served.stderr
    assert "failed" not in served.stderr
    assert "gcn       8      1" in served.stdout

    refused = command(served_root, tmp_path / "served", "--set", f"{STUDY}.budget=8.5")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.splitlines()[-1] == (
        "error: digits: one deployment costs a user 9 (edges 8 + features 1), above the declared budget 8.5: "
        "lower an epsilon or declare a larger budget"
    )

    os.environ["POINT_STORE"] = str(tmp_path / "served")
    plain = [f"--set={item}" for item in GRID]
    assert main(STUDY, ["--plain", *plain, "--json", str(tmp_path / "plain.json")]) == 0
    assert "0 points computed" in capsys.readouterr().err
    assert (tmp_path / "plain.json").read_bytes() == (tmp_path / "served.json").read_bytes()
    assert len(json.loads((tmp_path / "plain.json").read_text())) == 5


SLEEPER = """
import sys
import flows.run.command_line, flows.server.lost_server

def work():
    import time
    import prefect

    @prefect.task
    def sleep():
        print("asleep", flush=True)
        time.sleep(600)

    @prefect.flow
    def sleeper():
        sleep.submit().wait()

    return sleeper()

flows.server.lost_server.PATIENCE_SECONDS = 3.0
sys.modules["__main__"].__spec__ = flows.run.command_line.__spec__
sys.exit(flows.run.command_line.guarded(lambda: work, plain=False))
"""


def test_a_run_whose_server_is_killed_while_a_task_works_ends_within_half_a_minute(
    served_root: Path, tmp_path: Path
) -> None:
    own = {"DVC_ROOT": str(served_root), "POINT_STORE": str(tmp_path), "PREFECT_SERVER_IDLE_SECONDS": "5"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "MLFLOW_"))}
    program = [sys.executable, "-c", SLEEPER]
    with subprocess.Popen(program, cwd=PACKAGE_ROOT, env=environment | own, stdout=PIPE, stderr=PIPE, text=True) as run:
        assert run.stdout and run.stdout.readline() == "asleep\n"
        record = LeaseFolder(served_root).read_record()
        assert record
        os.kill(record.server.pid, signal.SIGKILL)
        _, err = run.communicate(timeout=30)
    assert run.returncode == 1
    (line,) = err.splitlines()
    assert line.startswith(f"error: the Prefect server at {record.url} ")


def test_a_server_that_goes_away_under_a_run_is_one_line(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object, **__: object) -> None:
        raise httpx.ConnectError("[Errno 111] Connection refused")

    monkeypatch.setattr(run, "mark_crashed_runs", list)
    monkeypatch.setattr(declared(STUDY).flow(), "with_options", lambda **_: gone)
    request = StudyRequest(profile="demo", overrides=GRID)
    with pytest.raises(Interrupted, match=r"^the Prefect server at \S+ does not answer any more$"):
        run.run_in_prefect(check_request(STUDY, request))
