from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import Any
from uuid import UUID, uuid4

import pytest
from prefect.server.models import concurrency_limits_v2

from flows.system.prefect_patches import RECORDER, only_where_limits_are


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


READ = """
import json, sys
from flows.system import prefect_patches as prefect_server
sys.argv = ["prefect", "--version"]
try:
    prefect_server.main()
except SystemExit:
    pass
from prefect.settings import get_current_settings
print(json.dumps(get_current_settings().server.services.task_run_recorder.model_dump()))
"""


@pytest.mark.parametrize(("own", "size"), [({}, 100), ({f"{RECORDER}_BATCH_SIZE": "7"}, 7)])
def test_states_are_written_together_unless_the_user_has_set_otherwise(own: dict[str, str], size: int) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True, env=kept | own)
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["batch_size"], found["read_batch_size"], found["flush_interval"]) == (size, 100, 2)
