"""Who computes for a private data set: its clients and the bench, who read raw data, or the curator, who reads reports.

Either works in processes of its own, so that the process that asks holds no raw data. The curator's ends with the step
that it computes, and is guarded (``tasks.steps.guard``); the clients' read the raw files once and compute step after
step. For public sets nobody is kept apart.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from tasks.code_version import ROOT
from tasks.errors import Unavailable, UserError
from tasks.reports.ledgers.ledger_line import LedgerLine
from tasks.steps.progress import progress_bar
from tasks.steps.raw_source import RawSource
from tasks.store import CLIENTS, CURATOR, PointRef, PrivateFailure

if TYPE_CHECKING:
    from tasks.steps.declaration import Declaration, Draft

PARTS = "parts"
"""A folder for what parts of a point are made of, in the point's own as long as it is computed."""
PROGRAM = "from tasks.steps.job_process import serve; serve({})"


@dataclass(frozen=True)
class Job:
    """A function by its name, what it is given, and who it is done for.

    Attributes:
        module, name: of the function; of a step, where its folder is given.
        arguments: by name.
        label: how errors tell of it.
        side: ``CURATOR``, who may open ``reads`` and nothing else, or ``CLIENTS``.
        reads: folders of points.
        kernels: where compiled kernels are kept, which the jobs of the side alone write and run.
        log_level: of the pipeline's lines.
        key, private, folder: the draft's, of a step.
    """

    module: str
    name: str
    arguments: dict[str, Any] = field(repr=False)
    label: str
    side: str
    reads: tuple[Path, ...]
    kernels: Path
    log_level: int = field(default_factory=lambda: logging.getLogger("pipeline").getEffectiveLevel())
    key: dict[str, object] = field(default_factory=dict, repr=False)
    private: bool = True
    folder: Path | None = None


class JobFailed(Exception):
    """What a computation raised in its process, by its kind and text."""


def side_of(arguments: object) -> str:
    """Who computes on these arguments: ``CLIENTS`` or ``CURATOR`` of a private set, or "" where all are public."""
    sides = {value.side if isinstance(value, PointRef) else CLIENTS for value in _leaves(arguments) if _kept(value)}
    return CLIENTS if CLIENTS in sides else CURATOR if sides else ""


def compute_apart(declaration: Declaration, draft: Draft, arguments: dict[str, Any], side: str) -> None:
    """Compute a point's files in a process of the side's own.

    Raises:
        UserError: what the step raises, and where the curator's asks for what is not the curator's.
        PrivateFailure: for what else a step on private data raises, and when the process was killed.
        JobFailed: for what another one raises.
    """
    draft.folder = draft.folder.absolute()
    job = _job(declaration.compute, arguments, draft.label, side)
    with _Asked(replace(job, key=draft.key, private=draft.private, folder=draft.folder)) as asked:
        asked.outcome(draft)
    shutil.rmtree(draft.folder / PARTS, ignore_errors=True)


def call_apart(function: Callable[..., Any], label: str, **arguments: Any) -> Any:
    """What a function of a module makes of these arguments, as JSON holds it; by itself where all are public.

    Raises:
        UserError, PrivateFailure: as in ``compute_apart``.
    """
    side = side_of(arguments)
    if not side:
        return function(**arguments)
    with _Asked(_job(function, arguments, label, side)) as asked:
        return asked.outcome(None)


def _job(function: Callable[..., Any], arguments: dict[str, Any], label: str, side: str) -> Job:
    reads = tuple(value.folder.absolute() for value in _leaves(arguments) if isinstance(value, PointRef))
    kernels = Path(os.environ.get("NUMBA_CACHE_DIR") or ROOT / ".cache/numba").absolute() / f"{side}-{_code()}"
    level = logging.getLogger("pipeline").getEffectiveLevel()
    return Job(function.__module__, function.__name__, arguments, label, side, reads, kernels, level)


@cache
def _code() -> str:
    """Digest of our code: a compiled kernel holds code of other modules, whose changes numba does not see."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "tasks").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, (Mapping, list, tuple)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(part)
    else:
        yield value


def _kept(value: object) -> bool:
    return value.side != "" if isinstance(value, PointRef) else isinstance(value, RawSource) and value.private


class _Asked:
    """A job that has been sent; it ends with its block, and the curator's process with it."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._answered = False
        self._channel = forks.channel(job.side)

    def __enter__(self) -> _Asked:
        with suppress(OSError):  # it is gone, as its answer will tell
            self._channel.send(self._job)
        return self

    def __exit__(self, *_: object) -> None:
        if self._answered and self._job.side == CLIENTS:
            forks.idle.append(self._channel)
        else:
            self._channel.close()

    def outcome(self, draft: Draft | None) -> Any:
        """What the job ends with."""
        return self._heard("done", draft)

    def _heard(self, wanted: str, draft: Draft | None) -> Any:
        """Pass on what the job tells, until it tells what is wanted."""
        bars: dict[str, Callable[[float], None]] = {}
        while True:
            told = self._next()
            self._answered = "done" in told or "failed" in told
            if wanted in told:
                return told[wanted]
            if "failed" in told:
                raise _failure(told)
            if "line" in told:
                logger = logging.getLogger(told["logger"])
                logger.log(told["level"], "%s", told["line"])
            elif "bar" in told:
                bars.setdefault(told["bar"], progress_bar(told["bar"]))(told["percent"])
            elif draft and "charge" in told:
                self._charge(draft, LedgerLine.from_json(told["charge"]))
            elif draft and "part" in told:
                self._store_part(draft, Path(told["part"]), told["label"], told["entries"])

    def _next(self) -> dict[str, Any]:
        try:
            told: dict[str, Any] = json.loads(self._channel.recv_bytes())
            return told
        except (EOFError, OSError):
            raise PrivateFailure(f"{self._job.label}: its process was killed (is the memory full?)") from None

    def _charge(self, draft: Draft, line: LedgerLine) -> None:
        refusal = None
        try:
            draft.charge(line)
        except UserError as error:
            refusal = str(error)
        self._channel.send(refusal)

    def _store_part(self, draft: Draft, place: Path, label: str, entries: dict[str, object]) -> None:
        def compute(folder: Path) -> None:
            self._channel.send(None)
            self._heard("computed", draft)
            for path in place.iterdir():
                path.rename(folder / path.name)

        if place.parent != draft.folder / PARTS:
            raise PrivateFailure(f"{label}: its process asked for a part elsewhere")
        point = draft.part(compute, label, **entries)
        shutil.copytree(point.folder, place, dirs_exist_ok=True)
        self._channel.send(point)


def _failure(told: Mapping[str, Any]) -> Exception:
    kinds = {kind.__name__: kind for kind in (UserError, Unavailable, PrivateFailure)}
    if told["failed"] == "OSError":  # the store knows a full disk by its number
        return OSError(told["number"], told["text"])
    return kinds.get(told["failed"], JobFailed)(told["text"])


class _Forks:
    """The process that forks for every other one; started for the first, and again when it was killed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.idle: list[Connection] = []
        """Of the clients' processes that wait for another job."""

    def channel(self, side: str) -> Connection:
        """To a new process, or to one of the clients' that is idle."""
        with suppress(IndexError):
            while side == CLIENTS:
                waiting = self.idle.pop()
                if not waiting.poll():  # it has ended
                    return waiting
                waiting.close()
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            if self._process is None or self._process.poll() is not None:
                self._start()
            assert self._control is not None
            with suppress(OSError):  # killed just now: the job's answer will tell
                socket.send_fds(self._control, [b"j"], [theirs.fileno()])
        return Connection(ours.detach())

    def _start(self) -> None:
        self.stop()
        self._control, theirs = socket.socketpair()
        places = [str(place.absolute()) for place in (ROOT, *map(Path, sys.path))]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM.format(theirs.fileno())],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(places))},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=2,  # what is printed by a step is no result of the command
            )
        atexit.register(self.stop)

    def stop(self) -> None:
        """Let it end, which it does at once."""
        while self.idle:
            self.idle.pop().close()
        if self._control is not None and self._process is not None:
            self._control.close()
            self._process.wait()
        self._control = self._process = None


forks = _Forks()
"""Of this process."""
