from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from prefect.task_runners import ProcessPoolTaskRunner, ThreadPoolTaskRunner

from flows.execution.task_runners import plain_pool, prefect_task_runner, worker_count
from tasks.errors import UserError
from tasks.parameters.profiles import Profile

STUDY = {"datasets": ["digits"], "eps_x": ["1"], "eps_a": ["7"]}


def profile(**fields: Any) -> Profile:
    return Profile.model_validate({"node_classification": STUDY, **fields})


def test_there_is_a_worker_for_each_usable_core_unless_said_otherwise() -> None:
    assert worker_count(profile()) == len(os.sched_getaffinity(0))
    assert worker_count(profile(workers=5)) == 5


@pytest.mark.parametrize("runner", ["threads", "processes"])
def test_a_pool_ends_with_its_block(runner: str) -> None:
    with plain_pool(profile(runner=runner, workers=1)) as pool:
        assert pool.submit(abs, -3).result() == 3
    with pytest.raises(RuntimeError):
        pool.submit(abs, -3)


def test_prefects_runners_are_those_of_the_profile() -> None:
    assert isinstance(prefect_task_runner(profile(runner="threads", workers=1)), ThreadPoolTaskRunner)
    assert isinstance(prefect_task_runner(profile(runner="processes", workers=1)), ProcessPoolTaskRunner)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "127.0.0.1"])
def test_a_scheduler_that_does_not_answer_is_one_line(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.execution.task_runners.ANSWER_SECONDS", 1, raising=False)
    with (
        pytest.raises(UserError, match=f"dask_address {address}"),
        plain_pool(profile(runner="dask", dask_address=address)),
    ):
        pass


def test_without_shared_memory_threads_do_the_work_and_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr("flows.execution.task_runners.log.warning", lambda line, *parts: said.append(line % parts))

    def no_lock(self: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    monkeypatch.setattr("multiprocessing.context.BaseContext.Lock", no_lock)
    wanted = profile(runner="processes", workers=1)
    assert isinstance(prefect_task_runner(wanted), ThreadPoolTaskRunner)
    with plain_pool(wanted) as pool:
        assert isinstance(pool, ThreadPoolExecutor)
    assert len(said) == 2
    assert all("/dev/shm" in line for line in said)
