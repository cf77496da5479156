"""Processes known by pid and start time, so that a recycled pid is never taken for the process that had it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from flows.system.environment import PACKAGE_ROOT


@dataclass(frozen=True)
class Process:
    """One process of this machine; ``started``, only ever compared for equality, is when it began, after boot."""

    pid: int
    started: str

    def __str__(self) -> str:
        return f"{self.pid}-{self.started}"

    @classmethod
    def parse(cls, text: str) -> Process:
        """The inverse of ``str``; raises ValueError for anything else."""
        pid, separator, started = text.partition("-")
        if not separator:
            raise ValueError(f"not a process: {text!r}")
        return cls(int(pid), started)

    @classmethod
    def of(cls, pid: int) -> Process:
        """The running process with this pid; raises ProcessLookupError if there is none."""
        started = _start_time(pid)
        if started is None:
            raise ProcessLookupError(pid)
        return cls(pid, started)

    @classmethod
    def current(cls) -> Process:
        """This process."""
        return cls.of(os.getpid())

    def alive(self) -> bool:
        """Whether it still runs; a zombie does not."""
        return _start_time(self.pid) == self.started

    def stop(self, patience: float = 10.0, group: bool = False) -> None:
        """Ask it (or the process group that it leads) to end and wait; after ``patience`` seconds, kill it."""
        for signum, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, 5.0)):
            if not self._send(signum, group):
                return
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                if not self._present(group):
                    return
                time.sleep(0.05)

    def stop_with_children(self, patience: float = 10.0) -> None:
        """Stop a leader of its group that would wait for what it started, and its children with what these started."""
        self._send(signal.SIGTERM, group=False)
        deadline = time.monotonic() + patience
        while (children := self.children()) or (self.alive() and time.monotonic() < deadline):
            for child in children:
                child.stop(patience, group=child.leads_group())
            time.sleep(0.05)
        self.stop(group=True)

    def children(self) -> list[Process]:
        """The running processes that it started and that are not orphans yet."""
        found = []
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(self.pid).children() if self.alive() else []:
                with contextlib.suppress(ProcessLookupError):
                    found.append(Process.of(child.pid))
        return found

    def leads_group(self) -> bool:
        """Whether its process group is named by it."""
        return _group(self.pid) == self.pid

    def _send(self, signum: int, group: bool) -> bool:
        if not self._present(group):
            return False
        try:
            (os.killpg if group else os.kill)(self.pid, signum)
        except ProcessLookupError:
            return False
        return True

    def _present(self, group: bool) -> bool:
        found = _start_time(self.pid)
        if not group or found not in (None, self.started):
            return found == self.started
        # The leader may be gone before its group; the system lends a pid again only once its group is empty.
        return any(_group(pid) == self.pid and _start_time(pid) for pid in psutil.pids())


def spawn(
    log: Path, *arguments: str, environment: Mapping[str, str] | None = None, stdin: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Python with these arguments, which leads a session of its own and writes to the end of the log."""
    with log.open("ab") as words:
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=PACKAGE_ROOT,
            env=environment,
            stdin=stdin,
            stdout=words,
            stderr=words,
            start_new_session=True,
        )


def this_process() -> str:
    """This machine and process, in one word each."""
    return f"{socket.gethostname()} {Process.current()}"


def is_dead(owner: str) -> bool:
    """Whether it was a process of this machine that is gone; what runs elsewhere cannot be asked."""
    host, _, process = owner.partition(" ")
    try:
        return host == socket.gethostname() and not Process.parse(process).alive()
    except ValueError:
        return False


def _group(pid: int) -> int | None:
    with contextlib.suppress(ProcessLookupError):
        return os.getpgid(pid)
    return None


def _start_time(pid: int) -> str | None:
    """Hundredths of a second after boot, which no correction of the clock moves; None for no process and a zombie."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        if process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            return str(round(100 * (process.create_time() - psutil.boot_time())))
    return None
