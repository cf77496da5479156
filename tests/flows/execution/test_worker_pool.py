from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from unittest import mock

from prefect.context import SettingsContext, hydrated_context, serialize_context
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.execution.worker_pool import InheritedSettings, WorkerPool

FLOW = """
import json, sys
from pathlib import Path
from unittest import mock
from flows.server.local_server import leased_server
with leased_server(Path(sys.argv[1]), idle_seconds=1):
    import os
    from prefect import flow, get_client, task
    from prefect.settings import PREFECT_API_URL
    from flows.execution.worker_pool import WorkerPool

    @task
    def seen(number):
        from prefect.context import SyncClientContext
        same = get_client(sync_client=True) is SyncClientContext.get().client
        return os.getpid(), PREFECT_API_URL.value(), id(get_client(sync_client=True)), same

    @flow(task_runner=WorkerPool(max_workers=1))
    def study():
        return [future.result() for future in [seen.submit(number) for number in range(3)]]

    print(json.dumps([os.getpid(), PREFECT_API_URL.value(), study()]))
"""


def test_all_tasks_of_a_worker_share_one_client_of_the_flows_server(served_root: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(FLOW), str(served_root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    flow, url, found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == 3
    assert len({tuple(one) for one in found}) == 1
    worker, asked, _, same = found[0]
    assert worker != flow
    assert asked == url
    assert same


def test_inherited_settings_are_in_force_and_not_sent() -> None:
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:1/api"}):
        current = SettingsContext.get()
        assert current
        assert serialize_context()["settings_context"]
        with InheritedSettings(profile=current.profile, settings=current.settings):
            assert PREFECT_API_URL.value() == "http://127.0.0.1:1/api"
            sent = serialize_context()
    assert not sent["settings_context"]
    before = PREFECT_API_URL.value()
    with hydrated_context(sent, client=mock.Mock()):  # which would look for a server
        assert PREFECT_API_URL.value() == before


def test_a_copy_of_the_pool_prepares_its_workers_too() -> None:
    pool = WorkerPool(max_workers=3)
    assert vars(pool.duplicate())["_initializer"] is vars(pool)["_initializer"] is not None
