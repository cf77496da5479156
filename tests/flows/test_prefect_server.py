from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

from prefect.server.models import concurrency_limits_v2

from flows.prefect_server import only_where_limits_are


def test_only_limits_that_exist_are_incremented() -> None:
    asked: list[tuple[list[UUID], int]] = []

    async def increment(*, session: object, concurrency_limit_ids: list[UUID], slots: int) -> bool:
        asked.append((concurrency_limit_ids, slots))
        return False

    checked: Any = only_where_limits_are(increment)
    limit = uuid4()
    assert asyncio.run(checked(session=None, concurrency_limit_ids=[], slots=1)) is True
    assert asyncio.run(checked(session=None, concurrency_limit_ids=[limit], slots=2)) is False
    assert asked == [([limit], 2)]


def test_prefect_still_has_what_is_replaced() -> None:
    assert asyncio.iscoroutinefunction(concurrency_limits_v2.bulk_increment_active_slots)
