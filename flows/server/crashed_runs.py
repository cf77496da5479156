"""Flow runs that an ended process left "Running": found at the next start, or by ``make down``, and marked Crashed.

A flow names its process on its run (``@flow(on_running=[claim_run])``); whoever starts next asks whether it lives. This
module imports prefect: import it after the lease is taken. ``python -m flows.server.crashed_runs [PID ...]`` names
them.
"""

from __future__ import annotations

if __name__ == "__main__":
    from flows.system.environment import configure_environment

    configure_environment()

import asyncio
import os
import socket
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from prefect import Flow, get_client
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    FlowRunFilterState,
    FlowRunFilterStateType,
    TaskRunFilter,
    TaskRunFilterState,
    TaskRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.states import Crashed, State

from flows.server.leases import LeaseFolder
from flows.system.environment import project_root
from flows.system.processes import Process, is_dead

HOST_LABEL = "ldp.host"
PROCESS_LABEL = "ldp.process"
UNFINISHED = [StateType.RUNNING, StateType.PENDING, StateType.CANCELLING]
PAGE = 200


def claim_run(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """An ``on_running`` hook: label the run with this machine and process."""
    with get_client(sync_client=True) as client:
        client.update_flow_run_labels(
            flow_run.id, {HOST_LABEL: socket.gethostname(), PROCESS_LABEL: str(Process.current())}
        )


def mark_crashed_runs(root: Path | None = None, ended: Collection[str] = ()) -> list[str]:
    """Set the unfinished runs of dead processes, and their task runs, to Crashed; returns the names of the flow runs.

    A run is dead if the process it is labelled with, on this machine, is gone. A run without a label is dead if it is
    on the shared local server, does not belong to a deployment, and no other process holds a lease. ``ended`` are pids
    of what a stopped worker had started: its runs may not have come so far as to be labelled.
    """
    return asyncio.run(_mark_crashed_runs(LeaseFolder(root or project_root()), ended))


async def _mark_crashed_runs(folder: LeaseFolder, ended: Collection[str]) -> list[str]:
    async with get_client() as client:
        runs = await _unfinished_runs(client)
        # After the reading: whoever owns one of these runs and lives has its lease by now.
        alone = _alone_on_shared_server(folder)
        dead = [run for run in runs if _is_dead(run, alone, ended)]
        for run in dead:
            await _mark(client, run)
        return [run.name for run in dead]


async def _unfinished_runs(client: PrefectClient) -> list[FlowRun]:
    wanted = FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=UNFINISHED)))
    runs: list[FlowRun] = []
    while page := await client.read_flow_runs(flow_run_filter=wanted, limit=PAGE, offset=len(runs)):
        runs += page
    return runs


def _alone_on_shared_server(folder: LeaseFolder) -> bool:
    record = folder.read_record()
    others = [lease for lease in folder.live_leases() if not lease.name.startswith(f"{Process.current()}-")]
    return record is not None and record.url == os.environ.get("PREFECT_API_URL") and not others


def _is_dead(run: FlowRun, alone: bool, ended: Collection[str]) -> bool:
    name = run.labels.get(PROCESS_LABEL)
    if name is None:
        return run.infrastructure_pid in ended or (alone and run.deployment_id is None)
    return is_dead(f"{run.labels.get(HOST_LABEL)} {name}")


async def _mark(client: PrefectClient, run: FlowRun) -> None:
    message = "The process of this run ended without a word; its finished points are kept."
    tasks = await client.read_task_runs(
        flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[run.id])),
        task_run_filter=TaskRunFilter(state=TaskRunFilterState(type=TaskRunFilterStateType(any_=UNFINISHED))),
    )
    for task in tasks:
        await client.set_task_run_state(task.id, Crashed(message=message), force=True)
    await client.set_flow_run_state(run.id, Crashed(message=message), force=True)


if __name__ == "__main__":
    for name in mark_crashed_runs(ended=sys.argv[1:]):
        print(name)
