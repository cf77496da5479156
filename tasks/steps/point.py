"""How a step is declared, and how it becomes a Prefect task over the point store.

The step itself is a plain function that returns a ``PointRef``; the task around it shows a stored point as
"Cached" in the Prefect UI and a user's mistake as "Refused", without a traceback and without another try.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any

from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.states import Completed, Failed, State

from tasks.errors import Unavailable, UserError
from tasks.redaction import without_secrets
from tasks.steps.declaration import Declaration, Given
from tasks.steps.seeds import Seed
from tasks.store import PointRef, PointStore

CACHED = "Cached"
REFUSED = "Refused"


def point(
    step: str | None = None,
    *,
    label: str | Callable[[Given], str],
    seed: Seed | None = None,
    ignore: Collection[str] = (),
    also: Callable[[Given], Mapping[str, object]] | None = None,
    code: Callable[[Given, frozenset[str]], Collection[str]] | None = None,
    declaration: type[Declaration] = Declaration,
) -> Callable[[Callable[..., None]], Task[..., Any]]:
    """Decorate a function that computes files; the step takes the store where the function takes its ``Draft``.

    The key has an entry for every argument: a ``PointRef`` stands for its content, a ``RawSource`` (as ``raw``) for
    its digest, a model or a dataclass for its fields. The point is private when one of these is. ``step.key(...)``
    shows the key of a call, without the store.

    Args:
        step: the key's name of the step; by default the function's.
        label: how the point is told of, with arguments in braces.
        seed: what the step's own seed is derived for, which then stands in the key, and in the draft, as ``seed``.
        ignore: arguments that decide nothing, or only through ``seed`` and ``also``.
        also: further entries of the key, and others for those that are derived.
        code: the modules to cover where they depend on the arguments, from these and the modules that the function
            names (``tasks.steps.covered_code``); without any, the key has no version.
        declaration: another kind of declaration.
    """

    def decorate(compute: Callable[..., None]) -> Task[..., Any]:
        name = step or compute.__name__.replace("_", " ")
        return declared(declaration(compute, name, label, seed, ignore, also, code))

    return decorate


def declared(declaration: Declaration) -> Task[..., Any]:
    """The step of a declaration."""

    @wraps(declaration.compute)
    def step(store: PointStore, *args: Any, **kwargs: Any) -> PointRef:
        return declaration(store, *args, **kwargs)

    first, *others = inspect.signature(declaration.compute).parameters.values()
    store = first.replace(name="store", annotation="PointStore")
    step.__signature__ = inspect.Signature([store, *others])  # type: ignore[attr-defined]
    task: Any = point_task()(step)
    task.key, task.shared, task.declaration = declaration.key, declaration.shared, declaration
    return task


def point_task(*, retries: int = 1, retry_delay_seconds: float = 5.0) -> Callable[[Callable[..., Any]], Task[..., Any]]:
    """Decorate a step; the undecorated function stays reachable as ``.plain``."""

    def decorate(step: Callable[..., Any]) -> Task[..., Any]:
        @wraps(step)
        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                result = step(*args, **kwargs)
            except Unavailable:
                raise
            except UserError as mistake:
                return Failed(name=REFUSED, message=without_secrets(str(mistake)))
            return Completed(name=CACHED, data=result) if getattr(result, "cached", False) else result

        task: Any = Task(
            run,
            name=step.__name__.replace("_", " "),
            retries=retries,
            retry_delay_seconds=retry_delay_seconds,
            retry_condition_fn=_worth_another_try,
            cache_policy=NO_CACHE,
            persist_result=False,
        )
        task.plain = step
        return task

    return decorate


def _worth_another_try(task: Task[..., Any], task_run: object, state: State[Any]) -> bool:
    # Prefect would try a returned failure again as it does a raised one.
    return state.name != REFUSED
