"""How a flow hands its steps out: to Prefect's task runner, or (``--plain``) to a pool without any server.

And how they fail. A step that fails is noted, and the others go on. Workers or a scheduler that were killed (``LOST``)
end the run with ``Interrupted``: one line, status 1, and what is finished is kept. Retries are ``tasks.steps.point``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

import cloudpickle
import torch
from prefect import State, Task
from prefect.futures import as_completed as prefect_as_completed
from prefect.settings import PREFECT_API_URL

from flows.server.lost_server import reached, server_lost
from tasks.errors import Interrupted, Unavailable, UserError
from tasks.steps.point import REFUSED

IN_FLIGHT = 200
GPU = "gpu"
LOST = (BrokenExecutor, CancelledError)
"""What a pool raises whose worker was killed, and Dask's client when its scheduler is gone."""


@dataclass(frozen=True)
class Call:
    """One step with its arguments; ``name`` reads as the experiment; the caller finds the result by ``key``."""

    step: Task[..., Any]
    name: str
    arguments: dict[str, Any] = field(repr=False)
    key: Any = None


@dataclass(frozen=True)
class Done:
    """A finished call: its result, or the error that its retries could not mend."""

    call: Call
    result: Any = None
    error: BaseException | None = None


class Submitter(Protocol):
    """Runs calls side by side and yields them as they finish, at most ``IN_FLIGHT`` handed out at a time.

    A mistake of the user (``UserError``) is raised at once, as is ``Interrupted``; other errors, and what is
    ``Unavailable``, are yielded with their call. ``warm_up`` is done once, as soon as the first calls are handed out:
    workers take seconds to start.
    """

    warm_up: Callable[[], object]

    def run(self, calls: Iterable[Call]) -> Iterator[Done]:
        """The calls in the order in which they finish."""

    def run_inline(self, call: Call) -> Done:
        """A short call in the flow's own thread, past everything that waits for a worker."""


class PrefectSubmitter:
    """Submits to the task runner of the flow run it is used in; ``tag`` is every task's, beside the call's own."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.warm_up: Callable[[], object] = _nothing

    def run(self, calls: Iterable[Call]) -> Iterator[Done]:
        """See ``Submitter``."""
        for window in _windows(calls):
            with _workers():
                futures = {self._named(call).submit(**call.arguments): call for call in window}
                _once(self)
                for future in prefect_as_completed(list(futures)):
                    future.wait()
                    yield _settled(futures[future], future.state, future.result)

    def run_inline(self, call: Call) -> Done:
        """See ``Submitter``."""
        state: State[Any] = self._named(call)(**call.arguments, return_state=True)
        return _settled(call, state, state.result)

    def _named(self, call: Call) -> Any:
        return call.step.with_options(task_run_name=call.name, tags={self.tag, *call_tags(call)})


class PlainSubmitter:
    """Submits the undecorated steps to a pool; ``pool`` may live in other processes."""

    def __init__(self, pool: Executor) -> None:
        self.pool = pool
        self.warm_up: Callable[[], object] = _nothing

    def run(self, calls: Iterable[Call]) -> Iterator[Done]:
        """See ``Submitter``."""
        for window in _windows(calls):
            with _workers():
                futures = {self._submit(call): call for call in window}
                _once(self)
                for future in as_completed(futures):
                    error = future.exception()
                    if isinstance(error, (UserError, *LOST)) and not isinstance(error, Unavailable):
                        raise error
                    yield Done(futures[future], error=error) if error else Done(futures[future], future.result())

    def run_inline(self, call: Call) -> Done:
        """See ``Submitter``."""
        plain: Any = call.step.plain  # type: ignore[attr-defined]
        try:
            return Done(call, plain(**call.arguments))
        except UserError:
            raise
        except Exception as error:
            return Done(call, error=error)

    def _submit(self, call: Call) -> Future[Any]:
        plain: Any = call.step.plain  # type: ignore[attr-defined]
        if isinstance(self.pool, ThreadPoolExecutor):
            return self.pool.submit(plain, **call.arguments)
        # The name of the step belongs to its task, so the function itself travels by value.
        return self.pool.submit(_call_pickled, cloudpickle.dumps((plain, call.arguments)))


def call_tags(call: Call) -> set[str]:
    """Data set and method, as far as a call has them; and ``gpu`` where it computes on one.

    A Prefect concurrency limit on that tag, where there is one, is then a limit on these calls.
    """
    given, parts = call.arguments, call.key if isinstance(call.key, tuple) else (call.key,)
    found = {given.get("dataset"), given.get("name"), given.get("method"), getattr(given.get("source"), "name", None)}
    found |= {getattr(part, name, None) for part in parts for name in ("dataset", "method")}
    if given.get("device") == "cuda" or (given.get("device") == "auto" and torch.cuda.is_available()):
        found.add(GPU)
    return {tag for tag in found if isinstance(tag, str)}


def _settled(call: Call, state: State[Any], result: Callable[[], Any]) -> Done:
    if state.name == REFUSED:
        raise UserError(state.message or "refused")
    try:
        return Done(call, result())
    except LOST:
        raise
    except Exception as error:
        if (server := PREFECT_API_URL.value()) and not reached(server):
            raise server_lost(server) from None  # whatever Prefect made of it in a worker
        return Done(call, error=error)


@contextmanager
def _workers() -> Iterator[None]:
    """What ended the workers becomes one error."""
    try:
        yield
    except LOST:
        raise Interrupted("workers or their scheduler were killed (is the memory full?)") from None


def _nothing() -> None:
    pass


def _once(submitter: Submitter) -> None:
    waiting, submitter.warm_up = submitter.warm_up, _nothing
    waiting()


def _windows(calls: Iterable[Call]) -> Iterator[list[Call]]:
    remaining = iter(calls)
    while window := list(islice(remaining, IN_FLIGHT)):
        yield window


def _call_pickled(message: bytes) -> Any:
    function, arguments = cloudpickle.loads(message)
    return function(**arguments)
