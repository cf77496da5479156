"""What a Prefect server needs to run sweeps: work pools, a limit for the GPU, deployments of ``prefect.yaml``."""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import yaml
from prefect import get_client
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.exceptions import ObjectNotFound
from prefect.workers.process import ProcessWorker

from flows.execution.submission import GPU
from flows.run.sweep_request import SweepRequest
from flows.server.api_errors import api_errors
from flows.server.crashed_runs import mark_crashed_runs
from flows.system.environment import PACKAGE_ROOT, project_root
from flows.system.processes import is_dead
from tasks.errors import UserError
from tasks.point_folder import file_sha256
from tasks.steps.tracking.address import default_tracking_uri
from tasks.steps.tracking.track import end_dead_runs

FILE = "prefect.yaml"
FLOW = "sweep"
GPUS = 1


def deploy(client: SyncPrefectClient, record: Path) -> bool:
    """Create and deploy what is missing; False if nothing had to be deployed. ``record`` keeps what was deployed.

    Raises:
        UserError: when Prefect refuses the file.
    """
    deployments = yaml.safe_load((PACKAGE_ROOT / FILE).read_text(encoding="utf-8"))["deployments"]
    for pool in dict.fromkeys(deployment["work_pool"]["name"] for deployment in deployments):
        _ensure_pool(client, pool)
    _ensure_limit(client)
    digest = f"{file_sha256(PACKAGE_ROOT / FILE)} {_form()}"
    known = record.exists() and record.read_text() == digest
    if known and all(_deployed(client, deployment["name"]) for deployment in deployments):
        return False
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file", FILE]
    done = subprocess.run(command, cwd=PACKAGE_ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise UserError(f"{FILE} cannot be deployed: {lines[-1] if lines else f'status {done.returncode}'}")
    record.write_text(digest)
    return True


def _form() -> str:
    """A digest of what the pages ask for."""
    return hashlib.sha256(json.dumps(SweepRequest.model_json_schema()).encode()).hexdigest()


def _ensure_pool(client: SyncPrefectClient, name: str) -> None:
    try:
        client.read_work_pool(name)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        client.create_work_pool(WorkPoolCreate(name=name, type=ProcessWorker.type, base_job_template=template))


def _ensure_limit(client: SyncPrefectClient) -> None:
    try:
        client.read_concurrency_limit_by_tag(GPU)
    except ObjectNotFound:
        client.create_concurrency_limit(GPU, GPUS)


def _deployed(client: SyncPrefectClient, name: str) -> bool:
    try:
        client.read_deployment_by_name(f"{FLOW}/{name}")
    except ObjectNotFound:
        return False
    return True


def prepare_server() -> None:
    """Mark what killed processes left running, here and in MLflow, and deploy.

    Raises:
        UserError: when Prefect refuses the file.
    """
    with api_errors():
        mark_crashed_runs()
    with contextlib.suppress(UserError):  # a run says what is wrong with MLflow
        end_dead_runs(default_tracking_uri(project_root()), is_dead)
    with get_client(sync_client=True) as client:
        deploy(client, project_root() / ".prefect" / "deployed")
