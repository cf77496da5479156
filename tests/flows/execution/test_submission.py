from __future__ import annotations

import os
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from threading import Event

import pytest

from flows.execution import submission
from flows.execution.submission import Call, PlainSubmitter, call_tags
from flows.studies.node_classification.grid import Cell, Line
from tasks.errors import Interrupted, Unavailable, UserError
from tasks.steps.point import point_task


@point_task()
def halve(value: int) -> int:
    """Half of an even number; a mistake for a negative one."""
    if value < 0:
        raise UserError(f"{value} is negative")
    if value % 2:
        raise ValueError(f"{value} is odd")
    return value // 2


def calls(*values: int) -> list[Call]:
    return [Call(halve, f"halve {value}", {"value": value}, value) for value in values]


def test_results_and_errors_come_with_their_calls() -> None:
    with ThreadPoolExecutor(2) as pool:
        done = {item.call.key: item for item in PlainSubmitter(pool).run(calls(2, 3, 8))}
    assert {about: item.result for about, item in done.items()} == {2: 1, 3: None, 8: 4}
    assert str(done[3].error) == "3 is odd"
    assert done[2].error is None


def test_what_is_to_be_warmed_up_is_done_once() -> None:
    done: list[str] = []
    with ThreadPoolExecutor(2) as pool:
        submitter = PlainSubmitter(pool)
        submitter.warm_up = lambda: done.append("once")
        for _ in range(2):
            assert [item.result for item in submitter.run(calls(2))] == [1]
    assert done == ["once"]


def test_a_users_mistake_ends_the_run() -> None:
    with ThreadPoolExecutor(2) as pool, pytest.raises(UserError, match="-2 is negative"):
        list(PlainSubmitter(pool).run(calls(2, -2, 8)))


@point_task()
def fetch(value: int) -> int:
    """Nothing at all."""
    raise Unavailable(f"{value} is not to be had")


def test_what_cannot_be_had_ends_its_own_call_alone() -> None:
    with ThreadPoolExecutor(2) as pool:
        done = list(PlainSubmitter(pool).run([Call(fetch, "fetch", {"value": 3}), *calls(8)]))
    assert sorted(str(item.error or item.result) for item in done) == ["3 is not to be had", "4"]


@point_task()
def fall(value: int) -> int:
    """Ends its own process."""
    os._exit(value)


def test_a_killed_worker_ends_the_run_in_one_line() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for _ in range(2):  # found broken while waiting, and when submitting
            with pytest.raises(Interrupted, match="workers or their scheduler were killed"):
                list(PlainSubmitter(pool).run([Call(fall, "fall", {"value": 3})]))


class Gone(Executor):
    """As Dask's when its scheduler has been killed: what was handed out is cancelled."""

    def submit(self, *_: object, **__: object) -> Future[object]:  # type: ignore[override]
        future: Future[object] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_a_lost_scheduler_ends_the_run_in_one_line() -> None:
    with pytest.raises(Interrupted, match="workers or their scheduler were killed"):
        list(PlainSubmitter(Gone()).run(calls(2)))


def test_steps_travel_to_other_processes() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        done = {item.call.key: item for item in PlainSubmitter(pool).run(calls(4, 5))}
    assert done[4].result == 2
    assert isinstance(done[5].error, ValueError)


def test_only_so_many_are_handed_out_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "IN_FLIGHT", 3)
    taken: list[int] = []

    def endless() -> object:
        for value in range(0, 100, 2):
            taken.append(value)
            yield Call(halve, "halve", {"value": value}, value)

    with ThreadPoolExecutor(1) as pool:
        run = PlainSubmitter(pool).run(endless())  # type: ignore[arg-type]
        next(run)
        assert len(taken) == 3
        assert len(list(run)) == 49


def test_a_short_call_is_done_at_once_while_the_pool_is_busy() -> None:
    gate = Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(gate.wait)
        submitter = PlainSubmitter(pool)
        done = [submitter.run_inline(call) for call in calls(4, 5)]
        with pytest.raises(UserError, match="-2 is negative"):
            submitter.run_inline(calls(-2)[0])
        gate.set()
    assert done[0].result == 2
    assert isinstance(done[1].error, ValueError)


def test_a_call_is_tagged_by_what_it_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line("mutual", "gcn", "1", "7", "directed")
    of_cell = Call(halve, "score", {"value": 2}, (Cell("cora", line), 0))
    assert call_tags(of_cell) == {"cora", "mutual"}
    assert call_tags(Call(halve, "search", {"dataset": "cora", "method": "base", "device": "cuda"}, 3)) == {
        "cora",
        "base",
        "gpu",
    }
    for seen, tags in ((True, {"gpu"}), (False, set())):
        monkeypatch.setattr("torch.cuda.is_available", lambda seen=seen: seen)
        assert call_tags(Call(halve, "federate", {"device": "auto"})) == tags
        assert call_tags(Call(halve, "federate", {"device": "cpu"})) == set()
