from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from flows import ui
from flows.server.crashed_runs import HOST_LABEL, PROCESS_LABEL
from flows.server.leases import LeaseFolder, ServerRecord
from flows.server.local_server import leased_server
from flows.system.processes import Process
from tasks.health import answers


@pytest.fixture(autouse=True)
def _settled_at(served_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVC_ROOT", str(served_root))
    for name in ("PREFECT_API_URL", "PREFECT_HOME", "MLFLOW_TRACKING_URI"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def asked(address: str, body: dict[str, Any], method: str = "POST") -> dict[str, Any]:
    request = urllib.request.Request(
        address, json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method
    )
    for _ in range(300):
        try:
            with urllib.request.urlopen(request) as reply:
                return dict(json.loads(reply.read() or "{}"))
        except urllib.error.HTTPError as busy:  # its database has another writer: Prefect's own clients try again, too
            if busy.code != 503:
                raise
            time.sleep(1)
    raise AssertionError(f"{address} stays busy")


def test_up_serves_both_pages_and_a_worker_until_down(
    served_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ui, "START_SECONDS", 600.0)
    prefect_port, mlflow_port = free_port(), free_port()
    options = ["--prefect-port", str(prefect_port), "--mlflow-port", str(mlflow_port)]
    monkeypatch.setenv("PREFECT_SERVER_API_BASE_PATH", "/of/another/server")
    try:
        assert ui.main(["up", *options]) == 0
        printed = capsys.readouterr().out
        assert f"http://127.0.0.1:{prefect_port}" in printed
        assert f"http://127.0.0.1:{mlflow_port}" in printed
        record = (served_root / ".prefect/ui.json").read_text()
        with urllib.request.urlopen(f"http://127.0.0.1:{prefect_port}/ui-settings") as reply:
            assert json.load(reply)["api_url"] == f"http://127.0.0.1:{prefect_port}/api"

        # A worker for the sweeps that prefect.yaml deploys, none of which starts by itself.
        assert "worker: pool local" in printed
        worker = Process(**json.loads(record)["worker"]["process"])
        assert worker.alive()
        for name, pool in (("nightly", "local"), ("gpu", "gpu"), ("paper", "local"), ("ego-graphs", "local")):
            with urllib.request.urlopen(f"http://127.0.0.1:{prefect_port}/api/deployments/name/sweep/{name}") as reply:
                deployment = json.load(reply)
            assert deployment["work_pool_name"] == pool
            assert not any(schedule["active"] for schedule in deployment["schedules"])
        # Again: the same processes. A run: this server, and none of its own.
        assert ui.main(["up", *options]) == 0
        assert (served_root / ".prefect/ui.json").read_text() == record
        with leased_server(served_root) as url:
            assert url == f"http://127.0.0.1:{prefect_port}/api"
            assert LeaseFolder(served_root).read_record() is None

        # Two runs of the worker's that end with it: one has named its process, the other is not so far yet.
        ended = Process(1, "0")
        labels = {HOST_LABEL: socket.gethostname(), PROCESS_LABEL: str(ended)}
        api, flow = f"http://127.0.0.1:{prefect_port}/api/flow_runs/", {"flow_id": deployment["flow_id"]}
        asked(api, flow | {"name": "left", "state": {"type": "RUNNING"}, "labels": labels})
        begun = asked(api, flow | {"name": "begun", "state": {"type": "PENDING"}})
        asked(api + begun["id"], {"infrastructure_pid": str(ended.pid)}, "PATCH")
        mark = ui._mark_ended_runs
        monkeypatch.setattr(ui, "_mark_ended_runs", lambda root, api, runs: mark(root, api, [*runs, ended]))
    finally:
        assert ui.main(["down"]) == 0
    printed = capsys.readouterr().out
    assert all(f"ended, its finished points are kept: {name}\n" in printed for name in ("left", "begun"))
    with contextlib.closing(sqlite3.connect(served_root / ".prefect/prefect.db")) as database:
        assert database.execute(
            "select name, state_type from flow_run where name in ('left', 'begun') order by name desc"
        ).fetchall() == [
            ("left", "CRASHED"),
            ("begun", "CRASHED"),
        ]
        database.execute("delete from flow_run where name in ('left', 'begun')")  # other tests use this database
        database.commit()
    assert not worker.alive()
    assert not answers(f"http://127.0.0.1:{prefect_port}/api")
    assert not answers(f"http://127.0.0.1:{mlflow_port}")
    assert not (served_root / ".prefect/ui.json").exists()
    capsys.readouterr()
    assert ui.main(["down"]) == 0
    assert capsys.readouterr().out == "nothing to stop\n"


def test_a_taken_port_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert ui.main(["up", "--prefect-port", str(port)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: port {port} for prefect: ")
    assert "--prefect-port" in error


def test_a_run_in_progress_keeps_its_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    folder = LeaseFolder(tmp_path)
    folder.add_lease()
    folder.write_record(ServerRecord("http://127.0.0.1:1234/api", Process.current(), Process.current()))
    assert ui.main(["up"]) == 2
    assert "watch it at http://127.0.0.1:1234;" in capsys.readouterr().err


def test_down_stops_exactly_what_was_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    (tmp_path / ".prefect").mkdir()
    recycled = {"pid": os.getpid(), "started": "1"}
    page = {"address": "http://127.0.0.1:1", "health": "http://127.0.0.1:1/api", "process": recycled}
    (tmp_path / ".prefect/ui.json").write_text(json.dumps({"prefect": page}))
    assert ui.main(["down"]) == 0
    assert not (tmp_path / ".prefect/ui.json").exists()
