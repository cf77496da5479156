"""Runs for comparison in MLflow: one parent for a sweep, one child for each of its points, each logged once.

The only module that imports mlflow. Only the flow's process calls it, after the results are safe on disk. All writes
happen under a file lock and search inside it, so that two flows at once log nothing twice.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.client
import math
import os
import shutil
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from filelock import FileLock

from tasks.errors import UserError
from tasks.redaction import without_secrets, without_user

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

RunStatus = Literal["FINISHED", "FAILED", "KILLED"]
Artifacts = Mapping[str, Path | str]


@dataclass(frozen=True)
class ParentRun:
    """Where the runs of one sweep go: plain values, so that they can be stored and sent."""

    tracking_uri: str = field(repr=False)  # it may hold a password
    experiment_id: str
    run_id: str


def default_tracking_uri(root: Path) -> str:
    """MLFLOW_TRACKING_URI if set, else the project's own SQLite file."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{root / '.mlflow' / 'mlflow.db'}"


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
    _await_server(tracking_uri, retries)
    with _locked(tracking_uri) as client:
        experiment_id = _experiment(client, tracking_uri, experiment)
        found = _search(client, experiment_id, f"tags.sweep = '{sweep_digest}'")
        all_tags = {**tags, "sweep": sweep_digest}
        if found:
            run = found[0]
            if run.info.status != "FINISHED":
                # Left by a run that was killed or had failures: this run goes on with it.
                client.update_run(run.info.run_id, status="RUNNING")
                _log(client, run.info.run_id, all_tags, _missing_params(run, params), {})
        else:
            run = client.create_run(experiment_id, tags=all_tags, run_name=name)
            _log(client, run.info.run_id, {}, params, {})
        return ParentRun(tracking_uri, experiment_id, run.info.run_id)


def log_child(
    parent: ParentRun,
    *,
    point_digest: str,
    name: str,
    params: Mapping[str, str],
    tags: Mapping[str, str],
    metrics: Mapping[str, float],
    artifacts: Artifacts | None = None,
) -> bool:
    """Log one point of the sweep as a finished child run; False if it was there already.

    Metrics that are not finite are left out and named in the tag ``unlogged_metrics``. Artifacts as in
    `log_parent_artifact`. A child left incomplete by a killed run is deleted and logged anew.

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
        _store_artifacts(client, run_id, artifacts or {})
        client.set_terminated(run_id, "FINISHED")
        return True


def log_parent_artifact(parent: ParentRun, artifacts: Artifacts) -> None:
    """Attach files to the parent, replacing older ones: name in MLflow -> path (file or folder) or text."""
    with _locked(parent.tracking_uri) as client:
        _store_artifacts(client, parent.run_id, artifacts)


def close_parent(parent: ParentRun, status: RunStatus) -> None:
    """End the parent run."""
    with _locked(parent.tracking_uri) as client:
        if client.get_run(parent.run_id).info.status != status:
            client.set_terminated(parent.run_id, status)


@functools.lru_cache
def _client(tracking_uri: str) -> MlflowClient:
    # Imported here: it takes seconds, and most modules that import this one never log.
    from mlflow import MlflowClient

    folder = _sqlite_folder(tracking_uri)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    # Artifacts are put up one by one: bars for files of a few kilobytes only flood the terminal.
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    return MlflowClient(tracking_uri=tracking_uri, registry_uri=tracking_uri)


@contextlib.contextmanager
def _locked(tracking_uri: str) -> Iterator[MlflowClient]:
    """The client, alone among the processes of this project; MLflow's errors become one line."""
    remedy = "the results are safe on disk, run again to log them"
    try:
        with FileLock(_lock_file(tracking_uri)):
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
    lines = str(error).splitlines()
    return lines[0][:300] if lines else type(error).__name__


def _lock_file(tracking_uri: str) -> Path:
    folder = _sqlite_folder(tracking_uri)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        return folder / "track.lock"
    digest = hashlib.sha256(tracking_uri.encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"mlflow-track-{os.getuid()}-{digest}.lock"


def _sqlite_folder(tracking_uri: str) -> Path | None:
    return Path(tracking_uri.removeprefix("sqlite:///")).parent if tracking_uri.startswith("sqlite:///") else None


def _await_server(tracking_uri: str, retries: int) -> None:
    """Ask a tracking server for a sign of life: MLflow's own client would try for minutes and then print a page."""
    if not tracking_uri.startswith(("http:", "https:")):
        return
    for attempt in range(retries + 1):
        try:
            with urllib.request.urlopen(f"{without_user(tracking_uri).rstrip('/')}/health", timeout=5):
                return
        except urllib.error.HTTPError:
            return  # It answers; what it thinks of us comes out with the first call.
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
        if attempt < retries:
            time.sleep(2.0**attempt)
    raise UserError(
        f"no MLflow server answers at {without_secrets(f'{tracking_uri} ({reason})')}: start it or unset "
        "MLFLOW_TRACKING_URI; the results are safe on disk, run again to log them"
    )


def _experiment(client: MlflowClient, tracking_uri: str, name: str) -> str:
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        folder = _sqlite_folder(tracking_uri)
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


def _store_artifacts(client: MlflowClient, run_id: str, artifacts: Artifacts) -> None:
    for name, content in artifacts.items():
        folder, _, file_name = name.rpartition("/")
        if isinstance(content, str):
            client.log_text(run_id, content, name)
        elif content.is_dir():
            client.log_artifacts(run_id, str(content), name)
        else:
            with tempfile.TemporaryDirectory() as place:
                # MLflow names an artifact after the local file.
                copy = shutil.copyfile(content, Path(place) / file_name)
                client.log_artifact(run_id, str(copy), folder or None)
