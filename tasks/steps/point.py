"""How a step becomes a Prefect task over the point store.

The step itself is a plain function that returns a ``PointRef``; the task around it shows a stored point as
"Cached" in the Prefect UI and a user's mistake as "Refused", without a traceback and without another try.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.states import Completed, Failed, State

from tasks.errors import Unavailable, UserError
from tasks.redaction import without_secrets

CACHED = "Cached"
REFUSED = "Refused"


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
