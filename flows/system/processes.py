"""Processes known by pid and start time, so that a recycled pid is never taken for the process that had it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc/self")


@dataclass(frozen=True)
class Process:
    """One process of this machine; ``started`` is the system's own reading, only ever compared for equality."""

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
        for pid in _children(self.pid) if self.alive() else []:
            with contextlib.suppress(ProcessLookupError):
                found.append(Process.of(pid))
        return found

    def leads_group(self) -> bool:
        """Whether its process group is named by it."""
        try:
            return os.getpgid(self.pid) == self.pid
        except ProcessLookupError:
            return False

    def _send(self, signum: int, group: bool) -> bool:
        if not self._present(group):
            return False
        try:
            if group:
                os.killpg(self.pid, signum)
            else:
                os.kill(self.pid, signum)
        except ProcessLookupError:
            return False
        return True

    def _present(self, group: bool) -> bool:
        found = _start_time(self.pid)
        if not group or found not in (None, self.started):
            return found == self.started
        # The leader may be gone before its group; the system lends a pid again only once its group is empty.
        return _group_has_members(self.pid)


def _group_has_members(group: int) -> bool:
    if _PROC.exists():
        rows = ((fields[2], fields[0]) for fields in map(_stat, _PROC.parent.glob("[0-9]*")) if fields)
    else:
        listing = _ps("-A", "-o", "pgid=,stat=")
        rows = ((row[0], row[1]) for row in map(str.split, listing.splitlines()) if len(row) == 2)
    return any(owner == str(group) and state[0] not in "ZX" for owner, state in rows)


def _children(parent: int) -> list[int]:
    if _PROC.exists():
        found = ((process.name, fields[1]) for process in _PROC.parent.glob("[0-9]*") if (fields := _stat(process)))
    else:
        listing = _ps("-A", "-o", "pid=,ppid=")
        found = ((row[0], row[1]) for row in map(str.split, listing.splitlines()) if len(row) == 2)
    return [int(pid) for pid, owner in found if owner == str(parent)]


def _start_time(pid: int) -> str | None:
    """Clock ticks since boot on Linux, a date elsewhere; None for no process and for a zombie."""
    if _PROC.exists():
        fields = _stat(_PROC.parent / str(pid))
        return None if not fields or fields[0] in "ZX" else fields[19]
    state, _, started = _ps("-o", "stat=,lstart=", "-p", str(pid)).strip().partition(" ")
    return None if not state or state.startswith("Z") else "_".join(started.split()).replace(":", ".")


def _stat(process: Path) -> list[str]:
    """The fields of /proc/<pid>/stat from the state on; empty if the process is gone."""
    try:
        # The second field, the name in brackets, may itself hold blanks and brackets.
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _ps(*arguments: str) -> str:
    return subprocess.run(["ps", *arguments], capture_output=True, text=True, check=False).stdout
