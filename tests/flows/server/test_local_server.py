from __future__ import annotations

import http.server
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flows.server import local_server as server
from flows.server.leases import LeaseFolder, ServerRecord
from flows.server.local_server import leased_server
from flows.system.processes import Process
from tasks.errors import UserError
from tasks.health import answers

Wait = Callable[..., None]
IDLE = 1.0

HOLDER = """
import sys
from pathlib import Path
from flows.server.local_server import leased_server
with leased_server(Path(sys.argv[1]), idle_seconds=float(sys.argv[2])) as url:
    assert "prefect" not in sys.modules
    print(url, flush=True)
    sys.stdin.read()
"""

KILLED_FLOW = """
import os, sys
from pathlib import Path
from flows.server.local_server import leased_server
with leased_server(Path(sys.argv[1]), idle_seconds=60):
    from prefect import flow, task
    from flows.server.crashed_runs import claim_run

    @task
    def killed():
        os.kill(os.getpid(), 9)

    @flow(flow_run_name="unclaimed")
    def part():
        killed()

    @flow(flow_run_name="claimed", on_running=[claim_run])
    def study():
        part()

    study()
"""

NEXT_FLOW = """
import json, sys
from pathlib import Path
from flows.server.local_server import leased_server
with leased_server(Path(sys.argv[1]), idle_seconds=float(sys.argv[2])):
    from prefect import get_client
    from flows.server.crashed_runs import mark_crashed_runs

    marked = [mark_crashed_runs(Path(sys.argv[1])) for _ in range(2)]
    with get_client(sync_client=True) as client:
        states = {run.name: run.state_name for run in client.read_flow_runs()}
    # Other tests run flows on this server, too.
    print(json.dumps([marked, {name: state for name, state in states.items() if name.endswith("claimed")}]))
"""


@pytest.fixture(autouse=True)
def _no_server_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    # Set first, so that whatever the code under test sets is undone afterwards.
    for name in ("PREFECT_API_URL", "PREFECT_HOME"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def program(text: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def url_of(holder: subprocess.Popen[str]) -> str:
    assert holder.stdout
    return holder.stdout.readline().strip()


def record_of(root: Path) -> ServerRecord:
    record = LeaseFolder(root).read_record()
    assert record
    return record


def gone(root: Path, record: ServerRecord) -> bool:
    folder = LeaseFolder(root)
    processes = record.server.alive() or record.supervisor.alive()
    return not processes and folder.read_record() is None and not list(folder.leases.iterdir())


def test_runs_at_once_share_one_server_that_ends_after_the_last(
    served_root: Path, wait_until: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_SERVER_API_BASE_PATH", "/of/another/server")
    holders = [program(HOLDER, served_root, IDLE) for _ in range(2)]
    urls = {url_of(holder) for holder in holders}
    record = record_of(served_root)
    assert urls == {record.url}
    wait_until(lambda: answers(record.url))

    with leased_server(served_root) as url:
        assert url == os.environ["PREFECT_API_URL"] == record.url
    assert "PREFECT_API_URL" not in os.environ

    holders[0].communicate()
    assert record.server.alive()
    # The last one leaves no farewell: its lease ends with it.
    holders[1].send_signal(signal.SIGKILL)
    holders[1].communicate()
    wait_until(lambda: gone(served_root, record))
    assert not answers(record.url)


def test_after_a_killed_run_and_a_killed_supervisor_the_next_run_cleans_up(served_root: Path, wait_until: Wait) -> None:
    killed = program(KILLED_FLOW, served_root)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    record = record_of(served_root)
    os.kill(record.supervisor.pid, signal.SIGKILL)
    # The tether: nothing else watches the server now.
    wait_until(lambda: not record.server.alive())
    assert record_of(served_root) == record

    following = program(NEXT_FLOW, served_root, IDLE)
    marked, states = json.loads(following.communicate()[0])
    assert sorted(marked[0]) == ["claimed", "unclaimed"]
    assert marked[1] == []
    assert states == {"claimed": "Crashed", "unclaimed": "Crashed"}
    fresh = LeaseFolder(served_root).read_record()
    assert fresh != record
    wait_until(lambda: LeaseFolder(served_root).read_record() is None and not (fresh and fresh.server.alive()))


def test_a_server_that_cannot_start_is_one_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_SERVER_DATABASE_CONNECTION_URL", "sqlite+aiosqlite:////proc/none/prefect.db")
    with pytest.raises(UserError, match=r"did not start.*server\.log.*--plain"), leased_server(tmp_path):
        pass
    folder = LeaseFolder(tmp_path)
    assert "unable to open database file" in folder.log.read_text()
    assert folder.read_record() is None
    assert not list(folder.leases.iterdir())


def test_a_given_server_that_does_not_answer_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.0)
    with pytest.raises(UserError, match=r"http://127\.0\.0\.1:9/api does not answer.*--plain"), leased_server(tmp_path):
        pass


@pytest.fixture
def given_server() -> Iterator[str]:
    class Healthy(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/api/health" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Healthy) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}/api"
        listening.shutdown()


def test_a_given_server_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given_server: str) -> None:
    monkeypatch.setenv("PREFECT_API_URL", given_server)
    monkeypatch.setattr(server, "ANSWER_SECONDS", 300.0)
    with leased_server(tmp_path) as url:
        assert url == given_server == os.environ["PREFECT_API_URL"]
        assert LeaseFolder(tmp_path).read_record() is None


def test_an_unwritable_place_is_one_line(tmp_path: Path) -> None:
    (tmp_path / ".prefect").write_text("a file where a folder should be")
    with pytest.raises(UserError, match=r"needs .*\.prefect.*--plain"), leased_server(tmp_path):
        pass


def test_a_bad_idle_time_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_SERVER_IDLE_SECONDS", "soon")
    with pytest.raises(UserError, match="PREFECT_SERVER_IDLE_SECONDS='soon'"), leased_server(tmp_path):
        pass


def test_leases_of_dead_processes_and_unreadable_records_count_for_nothing(tmp_path: Path) -> None:
    folder = LeaseFolder(tmp_path)
    mine = folder.add_lease()
    recycled = Process(os.getpid(), "1")
    for name in (f"{recycled}-0a1b2c3d", "rubbish"):
        (folder.leases / name).touch()
    assert folder.live_leases() == [mine]
    assert list(folder.leases.iterdir()) == [mine]
    (folder.folder / "server.json").write_text('{"url": 3')
    assert folder.read_record() is None


def test_the_time_in_which_a_server_starts_is_used(served_root: Path) -> None:
    text = """
    import os, sys
    from pathlib import Path
    from tasks.health import answers
    from flows.server.local_server import leased_server
    called = []

    def warm_up():
        url = os.environ["PREFECT_API_URL"]
        called.append((url, answers(url)))

    with leased_server(Path(sys.argv[1]), idle_seconds=0, warm_up=warm_up) as url:
        with leased_server(Path(sys.argv[1]), warm_up=warm_up):
            assert called == [(url, False)]
    assert "PREFECT_API_URL" not in os.environ
    """
    done = program(text, served_root)
    done.communicate()
    assert done.returncode == 0
