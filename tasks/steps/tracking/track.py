"""Runs for comparison in MLflow: one parent for a sweep, one child for each of its points, each logged once.

The only module that imports mlflow. Only the flow's process calls it, after the results are safe on disk. All writes
happen under a file lock and search inside it, so that two flows at once log nothing twice.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from filelock import FileLock

from tasks.errors import UserError
from tasks.redaction import without_secrets
from tasks.steps.tracking.address import await_server, lock_file, sqlite_folder

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

RunStatus = Literal["FINISHED", "FAILED", "KILLED"]
Artifacts = Mapping[str, Path | str]
"""Name in MLflow -> path (file or folder) or text."""
SENT_LATER = "results are safe on disk, python -m flows.relog sends them"
OWNER = "owner"
"""The tag that names the process which logs a run."""


@dataclass(frozen=True)
class ParentRun:
    """Where the runs of one sweep go: plain values, so that they can be stored and sent."""

    tracking_uri: str = field(repr=False)  # it may hold a password
    experiment_id: str
    run_id: str
    finished: bool = False
    """Whether it was so already when it was opened."""


@dataclass(frozen=True)
class PublicData:
    """What MLflow keeps of a data set: never of a private one."""

    name: str
    digest: str
    url: str = ""
    """Where it is from; empty for one that comes with an installed package or is the user's own."""


def open_parent(
    tracking_uri: str,
    experiment: str,
    sweep_digest: str,
    name: str,
    tags: Mapping[str, str],
    params: Mapping[str, str],
    retries: int = 2,
) -> ParentRun:
    """The parent run tagged ``sweep=<digest>``, made if need be; a finished one is left as it is.

    A missing experiment is made too (of an SQLite file, with artifacts in the folder ``artifacts`` beside it).
    ``retries`` counts further attempts to reach a tracking server, a second apart and more.

    Raises UserError if the store cannot be used.
    """
    await_server(tracking_uri, retries)
    with _locked(tracking_uri) as client:
        experiment_id = _experiment(client, tracking_uri, experiment)
        found = _search(client, experiment_id, f"tags.sweep = '{sweep_digest}'")
        all_tags = {**tags, "sweep": sweep_digest}
        finished = bool(found) and found[0].info.status == "FINISHED"
        if found:
            run = found[0]
            if not finished:
                # Left by a run that was killed or had failures: this run goes on with it.
                client.update_run(run.info.run_id, status="RUNNING")
                _log(client, run.info.run_id, all_tags, _missing_params(run, params), {})
        else:
            run = client.create_run(experiment_id, tags=all_tags, run_name=name)
            _log(client, run.info.run_id, {}, params, {})
        return ParentRun(tracking_uri, experiment_id, run.info.run_id, finished)


def log_child(
    parent: ParentRun,
    *,
    point_digest: str,
    name: str,
    params: Mapping[str, str],
    tags: Mapping[str, str],
    metrics: Mapping[str, float],
    data: PublicData | None = None,
    artifacts: Callable[[], Artifacts] | None = None,
) -> bool:
    """Log one point of the sweep as a finished child run; False if it was there already.

    Metrics that are not finite are left out and named in the tag ``unlogged_metrics``. ``artifacts`` is asked only for
    a child that is new. A child left incomplete by a killed run is deleted and logged anew.

    Raises UserError if the store cannot be used.
    """
    finite = {key: float(value) for key, value in metrics.items() if math.isfinite(value)}
    all_tags = {**tags, "point": point_digest, "mlflow.parentRunId": parent.run_id}
    if len(finite) < len(metrics):
        all_tags["unlogged_metrics"] = ", ".join(f"{key}={metrics[key]}" for key in metrics if key not in finite)
    with _locked(parent.tracking_uri) as client:
        theirs = f"tags.point = '{point_digest}' and tags.mlflow.parentRunId = '{parent.run_id}'"
        for run in _search(client, parent.experiment_id, theirs):
            if run.info.status == "FINISHED":
                return False
            client.delete_run(run.info.run_id)
        run_id = client.create_run(parent.experiment_id, tags=all_tags, run_name=name).info.run_id
        _log(client, run_id, {}, params, finite)
        if data:
            _log_data(client, run_id, data)
        _store_artifacts(client, run_id, artifacts() if artifacts else {})
        client.set_terminated(run_id, "FINISHED")
        return True


def log_parent_artifact(parent: ParentRun, artifacts: Artifacts) -> None:
    """Attach files to the parent, replacing older ones."""
    with _locked(parent.tracking_uri) as client:
        _store_artifacts(client, parent.run_id, artifacts)


def close_parent(parent: ParentRun, status: RunStatus) -> None:
    """End the parent run."""
    with _locked(parent.tracking_uri) as client:
        if client.get_run(parent.run_id).info.status != status:
            client.set_terminated(parent.run_id, status)


def end_dead_runs(tracking_uri: str, dead: Callable[[str], bool]) -> list[str]:
    """Set the running runs whose ``OWNER`` is dead to KILLED; returns the names of the parents among them.

    Raises UserError if the store cannot be used.
    """
    await_server(tracking_uri, 0)
    ended = []
    with _locked(tracking_uri) as client:
        experiments = [experiment.experiment_id for experiment in client.search_experiments()]
        for run in client.search_runs(experiments, "attributes.status = 'RUNNING'") if experiments else []:
            if OWNER in run.data.tags and dead(run.data.tags[OWNER]):
                client.set_terminated(run.info.run_id, "KILLED")
                if "sweep" in run.data.tags:
                    ended.append(run.info.run_name)
    return ended


def fetch_artifacts(tracking_uri: str, run_id: str, name: str, place: Path) -> Path:
    """Bring an artifact (file or folder) of a run to ``place``.

    Raises UserError if the store cannot be used or the run has no such artifact.
    """
    await_server(tracking_uri, 0)
    with _locked(tracking_uri, "give the id of a child run") as client:
        if not any(found.path == name for found in client.list_artifacts(run_id)):
            raise UserError(f"MLflow run {run_id} has no {name}")
        return Path(client.download_artifacts(run_id, name, str(place)))


def import_mlflow() -> None:
    """Import what logging needs; it takes seconds."""
    import mlflow.store.tracking.sqlalchemy_store  # noqa: F401


@functools.lru_cache
def _client(tracking_uri: str) -> MlflowClient:
    # Imported here: it takes seconds, and most modules that import this one never log.
    from mlflow import MlflowClient

    folder = sqlite_folder(tracking_uri)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    # Bars for files of a few kilobytes only flood the terminal.
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    return MlflowClient(tracking_uri=tracking_uri, registry_uri=tracking_uri)


@contextlib.contextmanager
def _locked(tracking_uri: str, remedy: str = SENT_LATER) -> Iterator[MlflowClient]:
    """The client, alone among the processes of this project; MLflow's errors become one line."""
    try:
        with FileLock(lock_file(tracking_uri)):
            try:
                client = _client(tracking_uri)
                yield client
            except OSError as error:
                raise UserError(without_secrets(f"MLflow at {tracking_uri}: {error}; {remedy}")) from error
            except Exception as error:
                from mlflow.exceptions import MlflowException
                from sqlalchemy.exc import SQLAlchemyError

                if not isinstance(error, (MlflowException, SQLAlchemyError)):
                    raise
                raise UserError(without_secrets(f"MLflow at {tracking_uri}: {_first_line(error)}; {remedy}")) from error
    except OSError as error:
        raise UserError(without_secrets(f"MLflow at {tracking_uri}: cannot lock: {error}; {remedy}")) from error


def _first_line(error: Exception) -> str:
    if "Max retries exceeded" in str(error):
        return "it does not answer"
    lines = str(error).splitlines()
    return lines[0][:300] if lines else type(error).__name__


def _experiment(client: MlflowClient, tracking_uri: str, name: str) -> str:
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        folder = sqlite_folder(tracking_uri)
        location = (folder.resolve() / "artifacts" / name).as_uri() if folder else None
        return client.create_experiment(name, artifact_location=location)
    if experiment.lifecycle_stage == "deleted":
        client.restore_experiment(experiment.experiment_id)
    return str(experiment.experiment_id)


def _search(client: MlflowClient, experiment_id: str, condition: str) -> list[Run]:
    return list(client.search_runs([experiment_id], condition, order_by=["attributes.start_time ASC"]))


def _missing_params(run: Run, params: Mapping[str, str]) -> dict[str, str]:
    """Parameters are written once: the ones of an earlier attempt stay."""
    return {key: value for key, value in params.items() if key not in run.data.params}


def _log(
    client: MlflowClient, run_id: str, tags: Mapping[str, str], params: Mapping[str, str], metrics: Mapping[str, float]
) -> None:
    from mlflow.entities import Metric, Param, RunTag

    now = int(time.time() * 1000)
    client.log_batch(
        run_id,
        metrics=[Metric(key, value, now, 0) for key, value in metrics.items()],
        params=[Param(key, str(value)) for key, value in params.items()],
        tags=[RunTag(key, str(value)) for key, value in tags.items()],
    )


def _log_data(client: MlflowClient, run_id: str, data: PublicData) -> None:
    from mlflow.data.code_dataset_source import CodeDatasetSource
    from mlflow.data.http_dataset_source import HTTPDatasetSource
    from mlflow.entities import Dataset, DatasetInput

    source = HTTPDatasetSource(data.url) if data.url else CodeDatasetSource({})
    # 36 characters of a digest are all that MLflow has room for.
    described = Dataset(data.name, data.digest[:36], source._get_source_type(), source.to_json())
    client.log_inputs(run_id, [DatasetInput(described)])


def _store_artifacts(client: MlflowClient, run_id: str, artifacts: Artifacts) -> None:
    if not artifacts:
        return
    # Laid out as they are to appear and sent in one call, which costs as much as one for a single file.
    with tempfile.TemporaryDirectory() as place:
        for name, content in artifacts.items():
            copy = Path(place, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                copy.write_text(content, encoding="utf-8")
            elif content.is_dir():
                shutil.copytree(content, copy)
            else:
                shutil.copyfile(content, copy)
        client.log_artifacts(run_id, place)
