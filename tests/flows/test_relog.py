from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from mlflow import MlflowClient

from flows import relog
from flows.run.command_line import main

STUDY = "node_classification"
DEAD = "http://127.0.0.1:9"
SEED = ["--dataset", "friends", "--set", "seed=178"]


def children(tracking: str) -> list[str]:
    client = MlflowClient(tracking_uri=tracking)
    experiment = client.get_experiment_by_name(STUDY)
    if experiment is None:
        return []
    runs = client.search_runs([experiment.experiment_id])
    parents = {
        run.info.run_id for run in runs if "'seed': 178" in run.data.params.get("parameters", "").replace('"', "'")
    }
    return [run.info.run_name for run in runs if run.data.tags.get("mlflow.parentRunId") in parents]


def test_what_a_dead_server_missed_is_sent_once(
    workspace: Path,
    declare: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    declare(private=False)
    living = os.environ["MLFLOW_TRACKING_URI"]
    asked = ["--study", STUDY, *SEED]

    assert relog.main(asked) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: not in the store: ")
    assert error.endswith("; run the study first, nothing was logged")

    monkeypatch.setattr("tasks.steps.tracking.address.time.sleep", lambda seconds: None)
    os.environ["MLFLOW_TRACKING_URI"] = DEAD
    assert main(STUDY, ["--plain", *SEED]) == 1
    assert "no MLflow server answers" in capsys.readouterr().err
    assert relog.main(asked) == 2
    assert "no MLflow server answers" in capsys.readouterr().err

    os.environ["MLFLOW_TRACKING_URI"] = living
    assert relog.main(asked) == 0
    assert capsys.readouterr().out == f"{STUDY}: 1 cells are in MLflow\n"
    assert len(children(living)) == 1
    assert relog.main(asked) == 0
    assert main(STUDY, ["--plain", *SEED]) == 0
    assert len(children(living)) == 1


def test_a_missing_search_is_refused_without_measuring_it(
    workspace: Path, declare: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    declare(private=False)
    assert main(STUDY, ["--plain", *SEED]) == 0
    capsys.readouterr()
    more = ["--set", f'{STUDY}.backbones=["gcn", "sage"]']
    assert relog.main(["--study", STUDY, *SEED, *more]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        "error: not in the store: search friends base sage; run the study first, nothing was logged"
    )


def test_a_sweeps_own_options_name_the_sweep(
    workspace: Path, declare: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(private=False)
    living = os.environ["MLFLOW_TRACKING_URI"]
    monkeypatch.setattr("tasks.steps.tracking.address.time.sleep", lambda seconds: None)
    sweep = [*SEED, "--methods", "base", "--eps-a", "7.25", "--repeats", "1", "--runner", "threads"]
    os.environ["MLFLOW_TRACKING_URI"] = DEAD
    assert main("sweep", ["--plain", *sweep]) == 1
    before = children(living)
    os.environ["MLFLOW_TRACKING_URI"] = living
    for _ in range(2):
        assert relog.main(sweep) == 0
    assert main("sweep", ["--plain", *sweep]) == 0
    assert len(children(living)) == len(before) + 1
    capsys.readouterr()
    assert relog.main([*sweep, "--eps", "1"]) == 2
    assert capsys.readouterr().err.startswith("error: node_classification has no eps; choose from ")
