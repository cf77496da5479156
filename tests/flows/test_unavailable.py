from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.run.command_line import main
from tasks.errors import Unavailable

STUDY = "node_classification"
REASON = "planetoid/ind.cora.x: not to be had: no answer; check the network"
FAILED = f"download cora: Unavailable: {REASON}"


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(name: str, folder: Path) -> None:
        raise Unavailable(REASON)

    monkeypatch.setattr("tasks.steps.download.fetch_dataset", fetch)


def test_a_study_goes_on_without_a_set_that_cannot_be_had(
    workspace: Path, declare: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(private=False)
    rows = tmp_path / "rows.json"
    assert main(STUDY, ["--plain", "--dataset", "cora", "friends", f"--json={rows}"]) == 1
    assert {row["dataset"] for row in json.loads(rows.read_text())} == {"friends"}
    said = capsys.readouterr().err.splitlines()
    assert f"failed: {FAILED}" in said
    assert said[-2:] == ["failed, everything else is finished:", f"- {FAILED}"]


def test_a_study_without_any_data_is_refused_in_one_line(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(STUDY, ["--plain", "--dataset", "cora"]) == 2
    said = capsys.readouterr()
    assert said.err.splitlines()[-1] == f"error: {FAILED}"
    assert not said.out
