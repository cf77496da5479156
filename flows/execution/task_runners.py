"""The runners a profile may name: threads, processes, or Dask (a local cluster, or a scheduler by address)."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from flows.execution.dask_address import unanswered
from flows.execution.worker_pool import WorkerPool
from flows.system.process_end import follow_parent
from tasks.parameters.profiles import Profile

ANSWER_SECONDS = 10

log = logging.getLogger("pipeline")


def worker_count(profile: Profile) -> int:
    """The profile's workers, else one per usable core."""
    return profile.workers or len(os.sched_getaffinity(0))


def prefect_task_runner(profile: Profile) -> TaskRunner[Any]:
    """The profile's runner as Prefect's task runner.

    Raises:
        UserError: when the Dask scheduler at ``dask_address`` does not answer.
    """
    workers, runner = worker_count(profile), _usable(profile.runner)
    if runner == "threads":
        return ThreadPoolTaskRunner(max_workers=workers)
    if runner == "processes":
        return WorkerPool(max_workers=workers)
    from prefect_dask import DaskTaskRunner  # imported on demand: it takes seconds

    if profile.dask_address:
        with _dask_client(profile):  # so that a mistake shows before the flow starts
            return DaskTaskRunner(address=profile.dask_address)
    return DaskTaskRunner(cluster_kwargs=_local_cluster(workers))


@contextmanager
def plain_pool(profile: Profile) -> Iterator[Executor]:
    """The profile's runner without Prefect.

    Raises:
        UserError: when the Dask scheduler at ``dask_address`` does not answer.
    """
    workers, runner = worker_count(profile), _usable(profile.runner)
    if runner == "threads":
        pool: Executor = ThreadPoolExecutor(workers)
    elif runner == "processes":
        pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=follow_parent)
    else:
        with _dask_client(profile) as client:
            yield client.get_executor()
        return
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _usable(runner: str) -> str:
    """The profile's runner, but threads where processes cannot share a lock."""
    if runner == "processes":
        try:
            get_context("spawn").Lock()
        except (OSError, ImportError) as error:  # no /dev/shm, or a full or read-only one
            log.warning("worker processes need shared memory, /dev/shm (%s): threads do the work", error)
            return "threads"
    return runner


@contextmanager
def _dask_client(profile: Profile) -> Iterator[Any]:
    from distributed import Client, LocalCluster  # imported on demand: it takes seconds

    if profile.dask_address is None:
        with LocalCluster(**_local_cluster(worker_count(profile))) as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(profile.dask_address, timeout=ANSWER_SECONDS)
    except (OSError, ValueError):  # ValueError: no address at all
        raise unanswered(profile.dask_address) from None
    with client:
        yield client


def _local_cluster(workers: int) -> dict[str, Any]:
    return {
        "n_workers": workers,
        "threads_per_worker": 1,
        "dashboard_address": None,
        "host": "127.0.0.1",
        "preload": "flows.dask_worker",
        "silence_logs": logging.CRITICAL,  # the terminal shows the pipeline's own lines
    }
