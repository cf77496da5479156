"""Passwords and keys stay out of everything that a run prints, logs or stores; servers stay on loopback."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from flows import ui
from flows.run.command_line import main
from flows.server import local_server as server
from flows.server import supervisor
from flows.server.local_server import leased_server
from tasks.errors import UserError
from tasks.health import answers
from tasks.redaction import MASK
from tasks.steps.tracking import track
from tasks.steps.tracking.track import ParentRun, open_parent

PASSWORD = "hunter2-correct-horse"
VARIABLES = {
    "PREFECT_API_KEY": "pnu_9f8e7d6c5b4a",
    "PREFECT_API_AUTH_STRING": "admin:tr0ub4dor",
    "MLFLOW_TRACKING_PASSWORD": "staple-battery-9",
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7TESTING",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/testing",
    "AWS_SESSION_TOKEN": "session-token-value-0",
}
STUDY = "node_classification"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def clean(text: str) -> bool:
    return not any(secret in text for secret in (PASSWORD, *VARIABLES.values()))


def test_a_run_with_secrets_in_its_environment_leaves_none(
    workspace: Path,
    tmp_path: Path,
    declare: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A tracking server with a password in its address does not answer: one line, and results without a secret."""
    declare(private=False)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://ann:{PASSWORD}@127.0.0.1:{free_port()}")
    monkeypatch.setattr("time.sleep", lambda _: None)
    rows = tmp_path / "rows.json"  # exit status 1: MLflow was not reached
    assert (
        main(STUDY, ["--plain", "--dataset", "friends", "--set", "repeats=1", "--json", str(rows)]) == 1
    )  # MLflow was not reached
    out, err = capsys.readouterr()
    assert "no MLflow server answers at http://***@127.0.0.1" in err
    assert clean(out + err)
    for place in (workspace, tmp_path / "store", rows):
        for path in [place] if place.is_file() else place.rglob("*"):
            assert not path.is_file() or clean(path.read_bytes().decode("latin1")), path


def test_mlflow_runs_hold_no_secret(
    workspace: Path, declare: Callable[..., None], _mlflow_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(private=False)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PREFECT_API_URL", f"http://ann:{PASSWORD}@127.0.0.1:9/api")
    assert main(STUDY, ["--plain", "--dataset", "friends", "--set", "repeats=1"]) == 0
    files = [path for path in _mlflow_folder.rglob("*") if path.is_file()]
    assert files
    assert all(clean(path.read_bytes().decode("latin1")) for path in files)


@pytest.mark.parametrize("address", ["http://ann:{}@127.0.0.1:9", "http://ann:{}@localhost", "http://ann:{}@[::1"])
def test_an_unreachable_tracking_server_is_named_without_its_password(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urllib.request.urlopen", refuse)
    with pytest.raises(UserError) as refusal:
        open_parent(address.format(PASSWORD), "x", "y", "z", {}, {}, retries=0)
    assert clean(str(refusal.value))
    assert MASK in str(refusal.value)


def refuse(address: str, **_: object) -> None:
    raise OSError(f"cannot reach {address} or http://ann:{PASSWORD}@127.0.0.1")


def test_an_error_of_mlflow_loses_its_addresses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from mlflow.exceptions import MlflowException

    def fail(_: str) -> None:
        raise MlflowException(f"API request to http://ann:{PASSWORD}@host/api failed")

    monkeypatch.setattr(track, "_client", fail)
    with pytest.raises(UserError) as refusal:
        open_parent(f"sqlite:///{tmp_path}/mlflow.db", "x", "y", "z", {}, {})
    assert clean(str(refusal.value))
    assert PASSWORD not in repr(ParentRun(f"http://ann:{PASSWORD}@host", "1", "2"))


def test_an_unreachable_prefect_server_is_named_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0)
    monkeypatch.setenv("PREFECT_API_URL", f"http://ann:{PASSWORD}@127.0.0.1:{free_port()}/api")
    with pytest.raises(UserError, match="does not answer") as refusal, leased_server(tmp_path):
        pass
    assert clean(str(refusal.value))


def test_an_address_with_a_user_is_asked_without(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def reached(address: str, **_: object) -> None:
        asked.append(address)
        raise OSError

    monkeypatch.setattr("urllib.request.urlopen", reached)
    assert not answers(f"http://ann:{PASSWORD}@host:1/api")
    assert asked == ["http://host:1/api/health"]


def test_the_pages_tell_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://ann:{PASSWORD}@host:5000")
    ui.status(tmp_path)
    assert "mlflow: http://***@host:5000" in capsys.readouterr().out
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"postgresql://ann:{PASSWORD}@host/mlflow")
    assert clean(" ".join(ui._mlflow_command(tmp_path, 5000, ui.HOST)))


class Started(Exception):
    """A server would start now."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    """What would have been started: command line and environment."""
    commands: list[tuple[list[str], dict[str, str]]] = []

    def popen(command: list[str], **options: dict[str, str]) -> None:
        commands.append((command, options["env"]))
        raise Started

    for module in (ui, supervisor):
        monkeypatch.setattr(module.subprocess, "Popen", popen)
    monkeypatch.setattr(ui, "_refuse_taken", lambda *_: None)
    monkeypatch.setattr("flows.system.settings_check._check_prefect", lambda defaults: None)  # starts a process, too
    return commands


def test_servers_listen_on_loopback_whatever_the_environment_says(
    started: list, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    for name in ("PREFECT_SERVER_API_HOST", "MLFLOW_HOST"):
        monkeypatch.setenv(name, "0.0.0.0")
    with pytest.raises(Started):
        ui.main(["up"])
    with pytest.raises(Started):
        supervisor._start_server(ui.LeaseFolder(tmp_path))
    for command, environment in started:
        assert command[command.index("--host") + 1] == "127.0.0.1"
        assert environment["PREFECT_SERVER_API_HOST"] == "127.0.0.1"
    assert "warning" not in capsys.readouterr().err


def test_another_host_is_warned_of(
    started: list, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    with pytest.raises(Started):
        ui.main(["up", "--host", "0.0.0.0"])
    assert "warning: on 0.0.0.0 everyone who reaches this machine" in capsys.readouterr().err
    assert ui.main(["up", "--host", "everywhere"]) == 2
    assert "give an IPv4 address" in capsys.readouterr().err
