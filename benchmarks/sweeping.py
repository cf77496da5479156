"""Sweeps as a user starts them, in a project folder of their own: what the trials have in common.

Stores, databases and servers lie below a temporary root; the code is this checkout's. Everything that was started is
stopped in the end.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from flows.server.leases import LeaseFolder
from flows.system.environment import PACKAGE_ROOT
from flows.system.processes import Process, spawn
from tasks.health import answers
from tasks.point_folder import META, DamagedPoint, verify

STUDY = "node_classification"
COMPUTED = re.compile(r"^computed in [\d.]+ s: (.*)$", re.MULTILINE)
GRID = (
    "seed=0",
    "repeats=2",
    'node_classification.methods=["base"]',
    'node_classification.backbones=["gcn", "sage"]',
    "node_classification.eps_a=[6, 6.5, 7, 8]",
    'node_classification.search={"dropout": [0.2, 0.5], "epochs": 60}',
)
"""8 cells on digits: 16 searches, 47 points in all."""


@dataclass
class Project:
    """One root: a point store, a tracking store, a Prefect server."""

    root: Path
    grid: Sequence[str] = GRID
    environment: dict[str, str] = field(default_factory=dict)
    dataset: str = "digits"
    attempts: int = 0

    def start(self, runner: str, *options: str, command: Sequence[str] = ("-m", "flows.sweep")) -> Sweep:
        """A sweep in a process group of its own, with two workers."""
        self.attempts += 1
        log, rows = self.root / f"sweep-{self.attempts}.log", self.root / f"rows-{self.attempts}.json"
        arguments = ["--study", STUDY, "--dataset", self.dataset, "--runner", runner, "--workers", "2"]
        arguments += ["--json", str(rows)]
        grid = [f"--set={change}" for change in self.grid]
        log.unlink(missing_ok=True)
        return Sweep(_started([*command, *arguments, *grid, *options], log, self.variables()), log, rows)

    def variables(self) -> dict[str, str]:
        """The user's environment without settings of ours, and the root."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "MLFLOW_"))}
        kept.pop("POINT_STORE", None)
        own = {"DVC_ROOT": str(self.root), "OMP_NUM_THREADS": "1", "PREFECT_SERVER_IDLE_SECONDS": "60"}
        # What is compiled once need not be compiled for every root.
        own["NUMBA_CACHE_DIR"] = str(PACKAGE_ROOT / ".cache/numba")
        return kept | own | self.environment

    @property
    def store(self) -> Path:
        """The point store."""
        return Path(self.environment.get("POINT_STORE", self.root / ".cache"))

    def points(self) -> dict[str, tuple[int, int]]:
        """Every complete point, with what a second computation would change: inode and time of its description."""
        found = {}
        for meta in self.store.glob(f"points/*/{META}"):
            stat = meta.stat()
            found[meta.parent.name] = (stat.st_ino, stat.st_mtime_ns)
        return found

    def damage(self) -> list[str]:
        """Points that do not match their description, and what lies in the temporary folder."""
        found = [f"left over: {path.name}" for path in (self.store / "temporary").iterdir()]
        for folder in (self.store / "points").iterdir():
            try:
                verify(folder)
            except DamagedPoint as damage:
                found.append(f"point {folder.name}: {damage}")
        return found

    def server_seconds(self) -> float:
        """Processor time of the shared Prefect server and its supervisor, so far."""
        record = LeaseFolder(self.root).read_record()
        processes = (record.server, record.supervisor) if record else ()
        return sum(sum(psutil.Process(process.pid).cpu_times()[:2]) for process in processes)

    def stop_server(self) -> None:
        """End the shared Prefect server, if one runs."""
        record = LeaseFolder(self.root).read_record()
        if record:
            record.supervisor.stop()
            record.server.stop()


@dataclass
class Sweep:
    """A running sweep."""

    process: subprocess.Popen[bytes]
    log: Path
    rows: Path

    @property
    def said(self) -> str:
        """What it has printed and logged."""
        return self.log.read_text(errors="replace")

    @property
    def computed(self) -> list[str]:
        """Names of the points that it says it has computed."""
        return COMPUTED.findall(self.said)

    def family(self) -> list[Process]:
        """Its process and all below it, but for the shared server."""
        found = [Process.of(self.process.pid)] if self.process.poll() is None else []
        for parent in found:
            found += [child for child in parent.children() if not child.leads_group()]
        return found

    def wait(self, seconds: float = 600) -> int:
        """Its exit status.

        Raises:
            subprocess.TimeoutExpired: when it takes longer.
        """
        return self.process.wait(seconds)

    def finished(self, seconds: float = 600) -> bytes:
        """Its rows, once it has ended well.

        Raises:
            AssertionError: when it has not.
        """
        status = self.wait(seconds)
        assert status == 0, f"status {status}: {self.said[-2000:]}"
        return self.rows.read_bytes()


@dataclass
class Cluster:
    """A Dask scheduler and two workers, started by hand as in the README."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]

    @property
    def option(self) -> str:
        """The option that sends a sweep here."""
        return f"--set=dask_address={json.dumps(self.address)}"


@contextmanager
def dask_cluster(project: Project) -> Iterator[Cluster]:
    """Separate processes on loopback, stopped in the end."""
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    scheduler = _dask(project, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    options = ["--nthreads", "1", "--no-dashboard", "--preload", "flows.dask_worker"]
    folder = ["--local-directory", str(project.root / "dask")]
    workers = [_dask(project, "worker", address, *options, *folder) for _ in range(2)]
    try:
        yield Cluster(address, scheduler, workers)
    finally:
        for process in (*workers, scheduler):
            if process.poll() is None:
                Process.of(process.pid).stop_with_children(patience=5)
            process.wait()


def _dask(project: Project, *arguments: str) -> subprocess.Popen[bytes]:
    return _started(["-m", "dask", *arguments], project.root / f"dask-{arguments[0]}.log", project.variables())


def _started(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Python with these arguments, from the checkout's root, in a process group of its own; its words go to ``log``."""
    log.parent.mkdir(parents=True, exist_ok=True)
    return spawn(log, *command, environment=environment)


@contextmanager
def mlflow_server(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A tracking server over ``folder``, until the end."""
    folder = folder.absolute()
    place = ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", f"{folder}/artifacts"]
    command = ["-m", "mlflow", "server", *place, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    server = _started(command, folder / "server.log", os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"})
    process = Process.of(server.pid)
    try:
        assert until(lambda: answers(f"http://127.0.0.1:{port}"), 120), f"see {folder / 'server.log'}"
        yield server
    finally:
        process.stop(group=True)
        server.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(condition: Callable[[], object], seconds: float = 60.0) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
