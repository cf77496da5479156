from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from flows.context.request import StudyRequest
from flows.model import load_model
from flows.run.command_line import main
from flows.studies.conduct import study_function
from flows.studies.requests import check_request
from flows.system.processes import Process, is_dead, this_process
from tasks.curator.trained import Trained
from tasks.errors import UserError
from tasks.models.architecture import Architecture

STUDY = "node_classification"


def runs(study: str, **params: str) -> Iterator[Run]:
    """The runs of a study, the latest first, with these parameters."""
    client = MlflowClient(os.environ["MLFLOW_TRACKING_URI"])
    (experiment,) = [x for x in client.search_experiments() if x.name == study]
    for run in client.search_runs([experiment.experiment_id]):
        if params.items() <= run.data.params.items():
            yield run


def artifacts(run: Run) -> set[str]:
    return {x.path for x in MlflowClient(os.environ["MLFLOW_TRACKING_URI"]).list_artifacts(run.info.run_id)}


def confusion(run: Run) -> np.ndarray:
    with tempfile.TemporaryDirectory() as place:
        client = MlflowClient(os.environ["MLFLOW_TRACKING_URI"])
        return pd.read_csv(client.download_artifacts(run.info.run_id, "confusion.csv", place), index_col=0).to_numpy()


def test_a_cell_has_its_data_set_its_confusion_matrix_and_a_model_that_loads(workspace: Path) -> None:
    assert main(STUDY, ["--plain", "--set", "seed=78"]) == 0
    child = next(runs(STUDY, dataset="digits"))
    (used,) = child.inputs.dataset_inputs
    assert (used.dataset.name, used.dataset.source_type) == ("digits", "code")
    assert used.dataset.digest == child.data.tags["data_digest"][:36]
    counts = confusion(child)
    assert counts.shape == (10, 10)
    assert counts.sum() == 2 * 449  # two repeats, a quarter of 1,797 nodes each
    assert np.trace(counts) / counts.sum() == pytest.approx(child.data.metrics["accuracy"], abs=1e-12)
    model = load_model(child.info.run_id)
    assert isinstance(model, Trained)
    assert model.log_probabilities.shape == (1797, 10)
    assert {name: value.shape for name, value in model.weights.items()} == Architecture("gcn", 64, 10).weight_shapes()


def test_of_a_private_set_mlflow_gets_neither(workspace: Path, declare: Callable[..., None]) -> None:
    declare("secret")
    assert main(STUDY, ["--plain", "--dataset", "secret"]) == 0
    child = next(runs(STUDY, dataset="secret"))
    assert not child.inputs.dataset_inputs
    assert artifacts(child) == set()
    with pytest.raises(UserError, match=f"MLflow run {child.info.run_id} has no model"):
        load_model(child.info.run_id)


def test_an_interrupted_run_is_killed_and_a_failed_one_has_failed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_function(check_request(STUDY, StudyRequest()))
    for seed, error, status in ((79, KeyboardInterrupt(), "KILLED"), (80, ValueError("wrong"), "FAILED")):

        def ends(*arguments: object, error: BaseException = error) -> None:
            study(*arguments)  # type: ignore[arg-type]
            raise error

        monkeypatch.setattr("flows.studies.conduct.study_function", lambda _, ends=ends: ends)
        command = ["--plain", "--set", f"seed={seed}"]
        if status == "KILLED":
            assert main(STUDY, command) == 130
        else:
            with pytest.raises(ValueError, match="wrong"):
                main(STUDY, command)
        assert next(runs(STUDY, profile="demo")).info.status == status


def test_the_next_run_marks_what_a_dead_process_left_running(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client = MlflowClient(os.environ["MLFLOW_TRACKING_URI"])
    experiment = client.create_experiment("another study")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        owner = this_process().replace(str(Process.current()), str(Process.of(process.pid)))
        assert not is_dead(owner)
        left = client.create_run(experiment, tags={"owner": owner, "sweep": "x"}, run_name="left").info.run_id
        process.communicate(b"\n")
    mine = client.create_run(experiment, tags={"owner": this_process(), "sweep": "y"}).info.run_id
    abroad = client.create_run(experiment, tags={"owner": f"elsewhere {process.pid}-1"}).info.run_id
    assert main(STUDY, ["--plain", "--set", "seed=81"]) == 0
    assert "MLflow run 'left' was killed and is marked so" in capsys.readouterr().err
    assert client.get_run(left).info.status == "KILLED"
    assert {client.get_run(run).info.status for run in (mine, abroad)} == {"RUNNING"}
