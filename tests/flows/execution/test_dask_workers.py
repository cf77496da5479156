from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import dask
import pytest
from distributed import LocalCluster

from flows.execution import dask_workers
from flows.execution.dask_workers import dask_workers_watched
from tasks.parameters.profiles import Profile

STUDY = {"datasets": ["digits"], "eps_x": ["1"], "eps_a": ["7"]}


def profile(**fields: Any) -> Profile:
    return Profile.model_validate({"node_classification": STUDY, **fields})


def watchers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "dask-workers"]


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(dask_workers, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(dask_workers.log, "propagate", True)
    caplog.set_level(logging.INFO)


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    where = {"host": "127.0.0.1", "protocol": "tcp", "dashboard_address": None}
    with LocalCluster(n_workers=0, processes=False, **where) as cluster:
        yield cluster


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Callable[[], list[tuple[str, str]]]:
    return lambda: [(line.levelname, line.getMessage()) for line in caplog.records if line.name == "pipeline"]


@pytest.fixture
def looks_pass(monkeypatch: pytest.MonkeyPatch, wait_until: Callable[..., None]) -> Callable[..., None]:
    """Waits until the watch has begun some more looks: all but the last one of them are over then."""
    begun: list[None] = []

    def look(*errors: type[BaseException]) -> suppress:
        begun.append(None)
        return suppress(*errors)

    def passed(looks: int = 4) -> None:
        goal = len(begun) + looks
        wait_until(lambda: len(begun) >= goal)

    monkeypatch.setattr(dask_workers, "suppress", look)
    return passed


def test_a_scheduler_without_workers_is_told_once_and_so_are_its_workers(
    cluster: LocalCluster,
    said: Callable[[], list[tuple[str, str]]],
    wait_until: Callable[..., None],
    looks_pass: Callable[..., None],
) -> None:
    address = cluster.scheduler_address
    warning = (
        "WARNING",
        f"the Dask scheduler at {address} has no worker and the run waits for one; start one with: "
        f"python -m dask worker {address} --nthreads 1 --preload flows.dask_worker",
    )
    goes_on = ("INFO", f"the Dask scheduler at {address} has workers now: the run goes on")
    with dask_workers_watched(profile(runner="dask", dask_address=address)):
        wait_until(lambda: said() == [warning])
        looks_pass()
        cluster.scale(1)
        wait_until(lambda: said() == [warning, goes_on])
        looks_pass()
        cluster.scale(0)
        wait_until(lambda: said() == [warning, goes_on, warning])
    assert not watchers()
    assert said() == [warning, goes_on, warning]


def test_nothing_is_said_of_workers_that_are_there_or_of_a_scheduler_that_goes_away(
    cluster: LocalCluster,
    caplog: pytest.LogCaptureFixture,
    said: Callable[[], list[tuple[str, str]]],
    wait_until: Callable[..., None],
    looks_pass: Callable[..., None],
) -> None:
    cluster.scale(1)
    wait_until(lambda: len(cluster.scheduler.workers) == 1)
    with dask_workers_watched(profile(runner="dask", dask_address=cluster.scheduler_address)):
        looks_pass()
        assert said() == []
        with dask.config.set({"distributed.comm.timeouts.connect": "200ms"}):  # of a look at nothing
            cluster.close()
            looks_pass(2)
    assert not watchers()
    # asyncio tells of a task whose error nobody has seen, and names its file; the cluster's own may end so, too.
    lost = [line.getMessage() for line in caplog.records if line.name == "asyncio"]
    assert not [line for line in lost if dask_workers.__file__ in line]
    # A cluster that closes lets its workers go first.
    assert [level for level, _ in said()] in ([], ["WARNING"])


@pytest.mark.parametrize(
    "fields", [{"runner": "dask"}, {"runner": "threads", "dask_address": "tcp://127.0.0.1:1"}], ids=["local", "threads"]
)
def test_only_a_scheduler_by_address_is_watched(fields: dict[str, str]) -> None:
    with dask_workers_watched(profile(**fields)):
        assert not watchers()


def test_an_error_of_the_run_ends_the_watch(cluster: LocalCluster) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        dask_workers_watched(profile(runner="dask", dask_address=cluster.scheduler_address)),
    ):
        assert watchers()
        raise KeyboardInterrupt
    assert not watchers()
