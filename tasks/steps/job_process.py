"""The processes that compute for private data sets: one that has read nothing, and forks of it that do the jobs.

The first has imported the libraries, which takes seconds, and holds no data; it forks whenever it is asked to. A job's
process tells what happens as JSON: nothing that the curator's code makes is unpickled by anybody.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module  # noqa: TID251 - the step is named by the process that has imported it
from importlib.util import find_spec  # noqa: TID251 - where its package lies, no more
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread

from tasks.errors import Unavailable, UserError
from tasks.reports.ledgers.ledger_line import LedgerLine
from tasks.steps import progress
from tasks.steps.declaration import Draft
from tasks.steps.guard import NotTheCurators, keep_to
from tasks.steps.sides import PARTS, Job
from tasks.store import CLIENTS, CURATOR, PointRef, PrivateFailure, withheld


def serve(control: int) -> None:
    """Fork for every socket that comes in over ``control``, until nobody holds its other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever waits for the jobs decides
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.environ.setdefault("DGLBACKEND", "pytorch")  # or it looks for a file of settings
    import_libraries()
    with socket.socket(fileno=control) as asked:
        while True:
            _, handles, _, _ = socket.recv_fds(asked, 1, 1)
            if not handles:
                return
            if os.fork() == 0:
                asked.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _do(Connection(handles[0]))
            os.close(handles[0])


def import_libraries() -> None:
    """What most steps import of others' packages; none of it opens data."""
    import numba
    import sklearn  # noqa: F401 - it asks for shared memory, and warns where it has none
    import torch  # noqa: F401

    # Without a cache every process would compile what it uses; a version of our code has a cache of its own.
    numba.njit = partial(numba.njit, cache=True)  # type: ignore[assignment]


def _do(channel: Connection) -> None:
    """Do what comes in, the curator's process one job alone, and end the process."""
    with contextlib.suppress(EOFError, OSError):
        tell = _Teller(channel)
        job: Job = channel.recv()
        if _prepared(tell, job):
            # Not before: the kernel's guard is on this thread and on those that it starts.
            Thread(target=_follow, args=(channel.fileno(),), daemon=True).start()
            tell(**_outcome(channel, tell, job))
            while job.side == CLIENTS:
                job = channel.recv()
                tell(**_outcome(channel, tell, job))
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(0)


class _Teller:
    """Tells the process that waits, from any thread."""

    def __init__(self, channel: Connection) -> None:
        self._channel = channel
        self._lock = Lock()

    def __call__(self, **message: object) -> None:
        with self._lock:
            self._channel.send_bytes(json.dumps(message).encode())


def _follow(handle: int) -> None:
    """End with whoever waits for the job."""
    waiting = select.poll()
    waiting.register(handle, 0)
    waiting.poll()
    os._exit(1)


def _prepared(tell: _Teller, job: Job) -> bool:
    """Whether the process is ready for jobs of the side, the curator's with its guard on."""
    import numba

    _report_by(tell, job.log_level)
    try:
        job.kernels.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        tell(failed="UserError", text=f"{job.kernels}: cannot be made ({error.strerror}); set NUMBA_CACHE_DIR")
        return False
    os.environ["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR = str(job.kernels)  # type: ignore[attr-defined]
    if job.side == CURATOR:
        sys.dont_write_bytecode = True
        packages = {"tasks", job.module.partition(".")[0]}
        found = [find_spec(name) for name in packages]
        code = [Path(place) for spec in found if spec for place in (spec.submodule_search_locations or ())]
        keep_to(job.label, [*code, *job.reads], [job.kernels, *([job.folder] if job.folder else [])])
    return True


def _outcome(channel: Connection, tell: _Teller, job: Job) -> dict[str, object]:
    try:
        found: list[object] = []
        if job.private:
            withheld(lambda _: found.append(_computed(channel, tell, job)), Path(), job.label)
        else:
            found.append(_computed(channel, tell, job))
        return {"done": found[0]}
    except (Unavailable, UserError, PrivateFailure) as error:
        return {"failed": type(error).__name__, "text": str(error)}
    except OSError as error:
        return {"failed": "OSError", "text": str(error.strerror or error), "number": error.errno}
    except BaseException as error:
        return {"failed": "Exception", "text": f"{type(error).__name__}: {error}"}


def _computed(channel: Connection, tell: _Teller, job: Job) -> object:
    try:
        called = getattr(import_module(job.module), job.name)
        if job.folder is None:
            return called(**job.arguments)
        called.declaration.compute(_Draft(channel, tell, job), **job.arguments)
        return None
    except NotTheCurators as refusal:
        text = str(refusal.strerror)
    raise UserError(text)


class _Draft(Draft):
    """A draft whose parts are stored by the process that waits."""

    def __init__(self, channel: Connection, tell: _Teller, job: Job) -> None:
        assert job.folder is not None
        super().__init__(None, job.key, job.label, job.private, job.folder)  # type: ignore[arg-type]
        self._channel, self._tell = channel, tell
        self.charge = self._charged

    def _charged(self, line: LedgerLine) -> LedgerLine:
        """The process that waits enters it into the account, or refuses."""
        self._tell(charge=line.to_json())
        if refusal := self._channel.recv():
            raise UserError(refusal)
        return line

    def part(self, compute: Callable[[Path], None], label: str, **entries: object) -> PointRef:
        """See ``Draft``; the reference names a copy, which this process may read."""
        place = self.folder / PARTS / str(len(self.parts))
        place.mkdir(parents=True)
        self._tell(part=str(place), label=label, entries=entries)
        stored = self._channel.recv()
        if stored is None:
            compute(place)
            self._tell(computed=str(place))
            stored = self._channel.recv()
        self.parts.append(replace(stored, folder=place))
        return self.parts[-1]


def _report_by(tell: _Teller, level: int) -> None:
    """Log lines and progress go to the process that waits."""
    root = logging.getLogger()
    root.handlers[:] = [_Lines(tell)]
    root.setLevel(logging.WARNING)
    logging.getLogger("pipeline").setLevel(level)
    progress.show_elsewhere(lambda name, percent: tell(bar=name, percent=percent))


class _Lines(logging.Handler):
    def __init__(self, tell: _Teller) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(logger=record.name, level=record.levelno, line=record.getMessage())
