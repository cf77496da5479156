"""One local Prefect server for all runs of a project, started by the first and gone soon after the last.

Prefect's own ephemeral server costs ten seconds a process, forgets final task states and survives a killed run; this
one is shared by lease files (``flows.server.leases``) and stops ``IDLE_SECONDS`` after the last of them. The module
never imports prefect, which reads PREFECT_API_URL once, at import.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from flows.server.leases import LeaseFolder
from flows.server.pages import running_server
from flows.system.environment import configure_environment
from flows.system.processes import spawn
from tasks.errors import UserError
from tasks.health import answers, connects
from tasks.redaction import without_secrets

IDLE_SECONDS = 30.0
"""The server outlives its last lease by so much; PREFECT_SERVER_IDLE_SECONDS overrides it."""
START_SECONDS = 300.0  # a quiet machine needs ten
ANSWER_SECONDS = 10.0
CONNECT_SECONDS = 0.8


@contextlib.contextmanager
def leased_server(
    root: Path | None = None, idle_seconds: float | None = None, warm_up: Callable[[], object] = lambda: None
) -> Iterator[str]:
    """Hold a Prefect API open and yield its URL, which is also put in PREFECT_API_URL for the time of the lease.

    In this order: the server that PREFECT_API_URL names, the one of ``make ui``, the shared local one, started if need
    be and stopped by its supervisor ``idle_seconds`` (PREFECT_SERVER_IDLE_SECONDS, else 30) after the last lease.
    Enter it before prefect is imported. ``warm_up``, which may import prefect, is called while a server that this
    lease needs is starting; both take seconds.

    Raises UserError if PREFECT_API_URL names a server that does not answer, or if the local one does not start.
    """
    root = configure_environment(root)
    folder = LeaseFolder(root)
    given = os.environ.get("PREFECT_API_URL")
    record = folder.read_record()
    # A process started by a leaseholder inherits the shared server's URL: it takes a lease of its own.
    if given and not (record and record.url == given):
        require_answer(given)
        yield given
        return
    with folder.locked():
        lease = folder.add_lease()
        try:
            url = running_server(root) or _shared_server(folder, _idle_seconds(idle_seconds), warm_up)
        except BaseException:
            _let_go(lease, given)
            raise
    os.environ["PREFECT_API_URL"] = url
    try:
        yield url
    finally:
        _let_go(lease, given)


def _let_go(lease: Path, given: str | None) -> None:
    lease.unlink(missing_ok=True)
    if given:
        os.environ["PREFECT_API_URL"] = given
    else:
        os.environ.pop("PREFECT_API_URL", None)


def _idle_seconds(given: float | None) -> float:
    if given is not None:
        return given
    text = os.environ.get("PREFECT_SERVER_IDLE_SECONDS", str(IDLE_SECONDS))
    try:
        return float(text)
    except ValueError:
        raise UserError(f"PREFECT_SERVER_IDLE_SECONDS={text!r}: give a number of seconds") from None


def require_answer(url: str) -> None:
    """Raise UserError where PREFECT_API_URL names a server that nobody reaches, or that does not answer in time."""
    deadline = time.monotonic() + ANSWER_SECONDS
    while not answers(url, CONNECT_SECONDS):
        if time.monotonic() > deadline or not connects(url, CONNECT_SECONDS):
            raise UserError(
                f"PREFECT_API_URL={without_secrets(url)} does not answer: start that server, or unset the variable to "
                "use a local one (a run needs none with --plain)"
            )
        time.sleep(0.5)


def _shared_server(folder: LeaseFolder, idle_seconds: float, warm_up: Callable[[], object]) -> str:
    """The recorded server if it lives, else a new one; the caller holds the lock."""
    record = folder.read_record()
    supervisor: subprocess.Popen[bytes] | None = None
    told: str | None = None
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if record and record.supervisor.alive() and record.server.alive():
            if answers(record.url):
                return record.url
            if supervisor and not told:
                told = os.environ["PREFECT_API_URL"] = record.url
                warm_up()
                continue
        elif told:
            break  # whoever was called has read an address that is no more
        elif record:
            # Its supervisor was killed; the server, if it still runs, is on its way out.
            record.server.stop()
            folder.clear_record()
        elif supervisor is None or supervisor.poll() == 0:
            # Status 0 means that the last supervisor was just leaving and had not yet let go.
            supervisor = _start_supervisor(folder, idle_seconds)
        elif supervisor.poll() is not None:
            break
        time.sleep(0.1)
        record = folder.read_record()
    if supervisor:
        supervisor.terminate()
        supervisor.wait()  # it takes its record away
    raise UserError(f"the local Prefect server did not start, see {folder.log}; or run with --plain")


def _start_supervisor(folder: LeaseFolder, idle_seconds: float) -> subprocess.Popen[bytes]:
    return spawn(folder.log, "-m", "flows.server.supervisor", str(folder.folder.parent), str(idle_seconds))
