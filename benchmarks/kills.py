"""kill -9 of a sweep's processes at ten random moments: nothing is lost, computed twice or left half done.

A small sweep runs undisturbed. The same sweep then starts again and again on one store, each time until a random
moment at which one of its processes is killed: the flow, a worker (of a process pool or of Dask), or the Dask
scheduler, which runs by hand as in the README. Moments are drawn from ``--seed``: after so many further points, and so
many tenths of a second. At last it runs to its end, and

- its rows are those of the undisturbed run, byte for byte;
- no point that was complete has been written anew, and none was reported as computed twice;
- every point is as its description says, and no unfinished one is left;
- in MLflow one parent and each of its cells are finished, once; in Prefect no run is left running.

Run: ``python -m benchmarks.kills [--seed N] [--kills N] [--json FILE]``. Status 1 where one of these does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import psutil

from benchmarks.sweeping import GRID, STUDY, Cluster, Project, Sweep, dask_cluster, until
from flows.system.processes import Process

VICTIMS = (
    ("flow", "processes"),
    ("worker", "processes"),
    ("scheduler", "dask"),
    ("flow", "threads"),
    ("scheduler", "dask"),
    ("worker", "processes"),
    ("flow", "dask"),
    ("worker", "processes"),
    ("scheduler", "dask"),
    ("worker", "dask"),
)
"""What is killed, and how the sweep runs. A Dask worker comes last: its nanny starts it anew, and all goes on."""
LONG = (*(change for change in GRID if not change.startswith("repeats=")), "repeats=10")
"""Points enough for all kills."""
MORE_POINTS = 5
"""At most so many further points before a kill."""
DELAY = 0.6
START = 12.0
"""Seconds into which a kill before the first point may fall."""
PATIENCE = 900.0
"""Seconds to wait for points, and for a sweep to end by itself; much more than a quiet machine needs."""


@dataclass(frozen=True)
class Kill:
    """One attempt: what was killed and when, whether the sweep still ran, how it ended, and the points it left."""

    victim: str
    runner: str
    after_points: int
    delay: float
    running: bool
    status: int | None
    ended_after: float
    points: int


def attempt(project: Project, victim: str, runner: str, rng: np.random.Generator) -> tuple[Kill, Sweep]:
    """A sweep until its victim is killed; it ends by itself, or is killed in its turn (status None)."""
    more = int(rng.integers(MORE_POINTS + 1))
    delay = round(float(rng.uniform(0, DELAY if more else START)), 2)
    with ExitStack() as stack:
        cluster = stack.enter_context(dask_cluster(project)) if runner == "dask" else None
        sweep = project.start(runner, *([cluster.option] if cluster else []))
        until(lambda: sweep.process.poll() is not None or len(sweep.computed) >= more, PATIENCE)
        time.sleep(delay)
        pid = victim_of(victim, sweep, cluster)
        family, running = sweep.family(), sweep.process.poll() is None
        with suppress(ProcessLookupError):  # it has just ended by itself
            os.kill(pid, signal.SIGKILL)
        killed = time.monotonic()
        try:
            status: int | None = sweep.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            status = None
            sweep.process.kill()
            sweep.wait()
        ended = time.monotonic() - killed
        assert until(lambda: not any(process.alive() for process in family), PATIENCE), "workers outlived their flow"
    return Kill(victim, runner, more, delay, running, status, round(ended, 1), len(project.points())), sweep


def victim_of(victim: str, sweep: Sweep, cluster: Cluster | None) -> int:
    """The process to kill; a pool's worker is awaited."""
    if victim == "flow":
        return sweep.process.pid
    if victim == "scheduler":
        assert cluster
        return cluster.scheduler.pid
    if cluster:  # the process below the nanny, which the nanny starts anew
        found = [child.pid for worker in cluster.workers for child in Process.of(worker.pid).children()]
    else:
        found = []

        def started() -> bool:
            found[:] = [process.pid for process in sweep.family()[1:] if is_pool_worker(process.pid)]
            return bool(found) or sweep.process.poll() is not None

        until(started)
    return max(found) if found else sweep.process.pid


def is_pool_worker(pid: int) -> bool:
    """Whether a process is one of a pool, and no helper of it."""
    try:
        return "spawn_main" in " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return False


def tracked(project: Project) -> Counter[tuple[str, str]]:
    """MLflow's runs: how many (parent or name of the cell, status)."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{project.root}/.mlflow/mlflow.db")
    experiment = client.get_experiment_by_name(STUDY)
    assert experiment
    found = client.search_runs([experiment.experiment_id], max_results=1000)
    names = [run.info.run_name if "point" in run.data.tags else "parent" for run in found]
    return Counter((name, run.info.status) for name, run in zip(names, found, strict=True))


def unfinished(project: Project) -> list[str]:
    """Flow runs that Prefect takes for unfinished, asked of the project's server."""
    program = (
        "from flows.server.local_server import leased_server\n"
        "with leased_server():\n"
        " from prefect import get_client\n"
        " with get_client(sync_client=True) as client:\n"
        "  print([f'{x.name}: {x.state_name}' for x in client.read_flow_runs() if not x.state.is_final()])\n"
    )
    asked = [sys.executable, "-c", program]
    done = subprocess.run(asked, env=project.variables(), capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.replace("'", '"')))


def trial(root: Path, seed: int, kills_wanted: int) -> tuple[list[Kill], dict[str, bool], Counter[str]]:
    """All kills, and what holds after them."""
    rng = np.random.default_rng(seed)
    calm, project = Project(root / "calm", LONG), Project(root / "killed", LONG)
    kills: list[Kill] = []
    lines: Counter[str] = Counter()
    written: dict[str, set[tuple[int, int]]] = {}

    def note(sweep: Sweep) -> None:
        lines.update(sweep.computed)
        for name, stamp in project.points().items():
            written.setdefault(name, set()).add(stamp)

    try:
        expected = calm.start("threads", "--plain").finished()
        for victim, runner in VICTIMS[:kills_wanted]:
            kill, sweep = attempt(project, victim, runner, rng)
            print(
                f"{kill.victim} ({kill.runner}): status {kill.status}, {kill.points} points",
                file=sys.stderr,
                flush=True,
            )
            kills.append(kill)
            note(sweep)
        last = project.start("processes")
        rows = last.finished()
        note(last)
        runs = tracked(project)
        checks = {
            "every kill fell into a running sweep": all(kill.running for kill in kills),
            "rows as undisturbed, byte for byte": rows == expected,
            "the same points as undisturbed": set(project.points()) == set(calm.points()),
            "no complete point written anew": all(len(stamps) == 1 for stamps in written.values()),
            "no point reported twice": max(lines.values()) == 1,
            "every point sound, none unfinished": project.damage() == [],
            "MLflow: every run finished, once": set(runs.values()) == {1} and {x for _, x in runs} == {"FINISHED"},
            "Prefect: no run left running": unfinished(project) == [],
        }
    finally:
        project.stop_server()
    return kills, checks, lines


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description="kill -9 at ten random moments")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--kills", type=int, default=len(VICTIMS), help="only the first so many")
    parser.add_argument("--root", type=Path, help="keep everything below this folder (default: a temporary one)")
    parser.add_argument("--json", type=Path, help="write kills and checks")
    chosen = parser.parse_args(arguments)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        kills, checks, lines = trial(chosen.root or Path(place), chosen.seed, chosen.kills)
    print("| killed | runner | after points | and s | still running | status | ended after s | points complete |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for kill in kills:
        print("| " + " | ".join(str(value) for value in asdict(kill).values()) + " |")
    for check, holds in checks.items():
        print(f"{'ok  ' if holds else 'FAIL'} {check}")
    print(f"{len(lines)} points reported as computed, {time.monotonic() - started:.0f} s")
    if chosen.json:
        chosen.json.write_text(json.dumps({"kills": [asdict(kill) for kill in kills], "checks": checks}, indent=1))
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
