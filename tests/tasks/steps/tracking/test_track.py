from __future__ import annotations

import json
import socket
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow import MlflowClient

from tasks.errors import UserError
from tasks.steps.tracking.address import default_tracking_uri
from tasks.steps.tracking.track import (
    ParentRun,
    PublicData,
    close_parent,
    end_dead_runs,
    fetch_artifacts,
    log_child,
    log_parent_artifact,
    open_parent,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('mlflow') / 'new' / 'mlflow.db'}"


def opened(store: str, experiment: str, digest: str = "aaaa") -> ParentRun:
    return open_parent(store, experiment, digest, "cora sweep", {"git": "abc"}, {"repeats": "3"})


def logged(parent: ParentRun, digest: str = "p1", **changes: object) -> bool:
    fields = {
        "point_digest": digest,
        "name": "cora eps_a=7",
        "params": {"dataset": "cora", "eps_a": "7", "eps_x": "inf"},
        "tags": {"data_digest": "d"},
        "metrics": {"accuracy": 0.8},
        **changes,
    }
    return log_child(parent, **fields)  # type: ignore[arg-type]


def children(parent: ParentRun) -> list:
    runs = MlflowClient(tracking_uri=parent.tracking_uri).search_runs([parent.experiment_id], max_results=1000)
    return [run for run in runs if run.data.tags.get("mlflow.parentRunId") == parent.run_id]


def test_one_parent_and_one_child_however_often_they_are_logged(store: str) -> None:
    first = opened(store, "again")
    assert logged(first)
    close_parent(first, "FINISHED")
    second = opened(store, "again")
    assert second == replace(first, finished=True)
    assert not logged(second)
    close_parent(second, "FINISHED")

    client = MlflowClient(tracking_uri=store)
    (child,) = children(first)
    parent = client.get_run(first.run_id)
    assert parent.info.status == child.info.status == "FINISHED"
    assert parent.data.tags["sweep"] == "aaaa"
    assert parent.data.params == {"repeats": "3"}
    assert child.data.params == {"dataset": "cora", "eps_a": "7", "eps_x": "inf"}
    assert child.data.metrics == {"accuracy": 0.8}
    assert child.data.tags["point"] == "p1"
    assert child.data.tags["data_digest"] == "d"
    assert len(client.get_metric_history(child.info.run_id, "accuracy")) == 1


def test_each_sweep_has_its_own_children(store: str) -> None:
    one, other = opened(store, "sweeps", "aaaa"), opened(store, "sweeps", "bbbb")
    assert logged(one)
    assert logged(other)
    assert len(children(one)) == len(children(other)) == 1


def test_metrics_that_are_not_finite_are_named_not_sent(store: str) -> None:
    parent = opened(store, "finite")
    logged(parent, metrics={"accuracy": 0.5, "accuracy_sd": float("nan"), "ratio": float("inf")})
    (child,) = children(parent)
    assert child.data.metrics == {"accuracy": 0.5}
    assert child.data.tags["unlogged_metrics"] == "accuracy_sd=nan, ratio=inf"


def test_artifacts_keep_their_names_and_lie_beside_the_store(store: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a.csv").write_text("a")
    (tmp_path / "local.png").write_bytes(b"png")
    parent = opened(store, "artifacts")
    files = {"ledger.txt": "eps 7", "figures/curve.png": tmp_path / "local.png"}
    assert logged(parent, artifacts=lambda: files)
    assert not logged(parent, artifacts=lambda: pytest.fail("asked again"))
    log_parent_artifact(parent, {"tables": tmp_path / "folder", "note.md": "old"})
    log_parent_artifact(parent, {"note.md": "new"})

    base = Path(store.removeprefix("sqlite:///")).parent / "artifacts" / "artifacts"
    child = base / children(parent)[0].info.run_id / "artifacts"
    assert (child / "ledger.txt").read_text() == "eps 7"
    assert (child / "figures/curve.png").read_bytes() == b"png"
    assert (base / parent.run_id / "artifacts/tables/a.csv").read_text() == "a"
    assert (base / parent.run_id / "artifacts/note.md").read_text() == "new"
    assert (fetch_artifacts(store, parent.run_id, "tables", tmp_path) / "a.csv").read_text() == "a"
    with pytest.raises(UserError, match=f"{parent.run_id}.*model"):
        fetch_artifacts(store, parent.run_id, "model", tmp_path)


def test_what_a_killed_run_left_is_completed(store: str) -> None:
    parent = opened(store, "killed")
    client = MlflowClient(tracking_uri=store)
    tags = {"point": "p1", "mlflow.parentRunId": parent.run_id}
    half = client.create_run(parent.experiment_id, tags=tags).info.run_id
    close_parent(parent, "FAILED")

    parent = opened(store, "killed")
    assert client.get_run(parent.run_id).info.status == "RUNNING"
    assert logged(parent)
    (child,) = children(parent)
    assert child.info.run_id != half
    assert child.info.status == "FINISHED"


def test_runs_of_the_dead_are_killed_and_go_on_when_they_come_back(store: str) -> None:
    parent = open_parent(store, "dead", "aaaa", "sweep of the dead", {"owner": "me"}, {})
    client = MlflowClient(tracking_uri=store)
    half = client.create_run(parent.experiment_id, tags={"owner": "me", "mlflow.parentRunId": parent.run_id})
    done = open_parent(store, "dead", "bbbb", "done", {"owner": "me"}, {})
    close_parent(done, "FINISHED")
    assert end_dead_runs(store, lambda owner: owner != "me") == []
    assert end_dead_runs(store, lambda owner: owner == "me") == ["sweep of the dead"]
    states = [client.get_run(run).info.status for run in (parent.run_id, half.info.run_id, done.run_id)]
    assert states == ["KILLED", "KILLED", "FINISHED"]
    again = open_parent(store, "dead", "aaaa", "sweep of the dead", {"owner": "another"}, {})
    assert again == parent
    assert client.get_run(parent.run_id).data.tags["owner"] == "another"
    assert end_dead_runs(store, lambda owner: owner == "me") == []


def test_a_public_set_is_an_input_with_its_digest_and_its_source(store: str) -> None:
    parent = opened(store, "inputs")
    logged(parent, "p1", data=PublicData("cora", "0123456789abcdef" * 4, "https://host.example/cora.zip"))
    logged(parent, "p2", data=PublicData("digits", "cafe"))
    found = {used.dataset.name: used.dataset for child in children(parent) for used in child.inputs.dataset_inputs}
    assert (found["cora"].digest, found["digits"].digest) == (("0123456789abcdef" * 4)[:36], "cafe")
    assert json.loads(found["cora"].source)["url"] == "https://host.example/cora.zip"


def test_a_deleted_experiment_is_used_again(store: str) -> None:
    parent = opened(store, "deleted")
    MlflowClient(tracking_uri=store).delete_experiment(parent.experiment_id)
    assert opened(store, "deleted", "cccc").experiment_id == parent.experiment_id


def test_two_processes_at_once_log_nothing_twice(store: str) -> None:
    opened(store, "two", "other sweep")  # makes the experiment's store once, the race is about the runs
    script = textwrap.dedent(
        f"""
        from tasks.steps.tracking.track import *
        parent = open_parent({store!r}, "two", "dddd", "sweep", {{}}, {{}})
        for point in range(12):
            log_child(parent, point_digest=f"p{{point}}", name="n", params={{}}, tags={{}}, metrics={{"m": 1.0}})
        close_parent(parent, "FINISHED")
        """
    )
    flows = [subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = [flow.communicate(timeout=600)[1] for flow in flows]
    assert [flow.returncode for flow in flows] == [0, 0], errors

    parent = opened(store, "two", "dddd")
    sweeps = MlflowClient(tracking_uri=store).search_runs([parent.experiment_id], "tags.sweep = 'dddd'")
    assert len(sweeps) == 1
    assert sorted(run.data.tags["point"] for run in children(parent)) == sorted(f"p{point}" for point in range(12))


def test_an_unreachable_server_is_one_line_with_its_remedy() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with pytest.raises(UserError, match=rf"{uri}.*MLFLOW_TRACKING_URI.*python -m flows\.relog"):
        open_parent(uri, "e", "d", "n", {}, {}, retries=0)


def test_an_unwritable_place_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"sqlite:///.*/file/mlflow\.db.*python -m flows\.relog"):
        open_parent(f"sqlite:///{tmp_path / 'file' / 'mlflow.db'}", "e", "d", "n", {}, {})


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_text("not a database, but long enough to have a header of the size that one has" * 9)
    with pytest.raises(UserError, match=r"sqlite:///.*/mlflow\.db.*python -m flows\.relog"):
        open_parent(f"sqlite:///{tmp_path / 'mlflow.db'}", "e", "d", "n", {}, {})


def test_the_default_store_is_the_projects_unless_the_user_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert default_tracking_uri(tmp_path) == f"sqlite:///{tmp_path}/.mlflow/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://tracking.example")
    assert default_tracking_uri(tmp_path) == "http://tracking.example"
