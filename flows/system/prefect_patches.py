"""Prefect's own command line with two corrections to its server.

``python -m flows.system.prefect_patches server start ...``.
Every change of a task's state is written by itself; here, those of two seconds are written together.

Every task asks whether its tags have concurrency limits. Where none has, Prefect 3.9 still updates no row, which takes
SQLite's write lock: beside another writer that fails at once, and the client tries again after two seconds.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any
from uuid import UUID

Increment = Callable[..., Awaitable[bool]]
RECORDER = "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER"
TOGETHER = {f"{RECORDER}_READ_BATCH_SIZE": "100", f"{RECORDER}_BATCH_SIZE": "100", f"{RECORDER}_FLUSH_INTERVAL": "2"}


def only_where_limits_are(increment: Increment) -> Increment:
    """The same answer, without a write for no limits."""

    @wraps(increment)
    async def checked(session: Any, concurrency_limit_ids: list[UUID], slots: int) -> bool:
        if not concurrency_limit_ids:
            return True
        return await increment(session=session, concurrency_limit_ids=concurrency_limit_ids, slots=slots)

    return checked


def main() -> None:
    """Prefect's command line; it reads its settings when it is imported."""
    for name, value in TOGETHER.items():
        os.environ.setdefault(name, value)
    from prefect.cli import app
    from prefect.server.models import concurrency_limits_v2

    concurrency_limits_v2.bulk_increment_active_slots = only_where_limits_are(
        concurrency_limits_v2.bulk_increment_active_slots
    )
    app()


if __name__ == "__main__":
    main()
