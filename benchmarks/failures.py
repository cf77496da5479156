"""What a sweep survives, and how it ends where it cannot go on; on digits, some minutes in all.

- runners: threads, processes, and Dask with a scheduler and two workers started by hand give the same rows;
- two sweeps: at once on one store they compute every point once, and log it once;
- Prefect: its server is killed under a sweep, which ends in one line; the next one goes on from there;
- MLflow: its server is killed under a sweep, whose results are on disk; ``flows.relog`` sends them later, once;
- disk: the store's file system is full, which is one line; with more room the sweep goes on (needs leave to mount).

Run: ``python -m benchmarks.failures [TRIAL ...]``. Status 1 where one of these does not hold.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.kills import tracked
from benchmarks.sweeping import GRID, STUDY, Project, Sweep, dask_cluster, free_port, mlflow_server, until
from flows.server.leases import LeaseFolder
from flows.system.environment import PACKAGE_ROOT

Checks = dict[str, bool]


def runners(root: Path) -> Checks:
    """The same sweep by threads, by processes and by a Dask cluster of separate processes, a store each."""
    rows: dict[str, bytes] = {}
    try:
        for runner in ("threads", "processes"):
            rows[runner] = _own_store(root, runner).start(runner).finished()
        project = _own_store(root, "dask")
        with dask_cluster(project) as cluster:
            rows["dask"] = project.start("dask", cluster.option).finished()
    finally:
        Project(root).stop_server()
    return {f"rows by {runner} as by threads": rows[runner] == rows["threads"] for runner in ("processes", "dask")}


def two(root: Path) -> Checks:
    """Two sweeps at once on one store, of more points than either can compute before the other has started."""
    project = Project(root, [change for change in GRID if not change.startswith("repeats=")] + ["repeats=12"])
    try:
        sweeps = [project.start("threads"), project.start("processes")]
        searching = until(lambda: all("forecast: " in sweep.said for sweep in sweeps), 300)
        early = len(project.points())
        rows = [sweep.finished() for sweep in sweeps]
    finally:
        project.stop_server()
    shares = " and ".join(str(len(sweep.computed)) for sweep in sweeps)
    lines = Counter(name for sweep in sweeps for name in sweep.computed)
    return {
        "both end well, with the same rows": rows[0] == rows[1],
        "both were searching while points were missing": searching and early < len(project.points()),
        f"every point computed by one of them ({shares})": max(lines.values()) == 1,
        "no unfinished point": project.damage() == [],
        "MLflow has every run once": set(tracked(project).values()) == {1},
    }


def prefect(root: Path) -> Checks:
    """The Prefect server is killed in the middle."""
    project = Project(root)
    try:
        sweep = project.start("threads")
        until(lambda: len(sweep.computed) > 20)
        record = LeaseFolder(root).read_record()
        assert record
        os.kill(record.server.pid, signal.SIGKILL)
        status = sweep.wait()
        before = project.points()
        again = project.start("threads")
        rows = again.finished()
    finally:
        project.stop_server()
    after = project.points()
    return {
        f"the sweep ends with status {status} and a line: {_last_line(sweep)}": status == 1
        and "Prefect server" in _last_line(sweep)
        and _one_line(sweep),
        "the next one ends well": bool(rows),
        "no point is computed again": all(after[name] == stamp for name, stamp in before.items()),
        "no unfinished point": project.damage() == [],
    }


def mlflow(root: Path) -> Checks:
    """The MLflow server is killed in the middle, and back for ``flows.relog``."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    project = Project(root, environment={"MLFLOW_TRACKING_URI": address})
    with mlflow_server(root / ".mlflow", port) as server:
        sweep = project.start("threads", "--plain")
        until(lambda: "computed in" in sweep.said and any(tracked_quietly(project)), 120)
        server.kill()
        server.wait()
    status = sweep.wait()
    told = [line[:200] for line in sweep.said.splitlines() if f"MLflow at {address}" in line]
    missed = tracked(project)
    with mlflow_server(root / ".mlflow", port):
        for _ in range(2):
            grid = [f"--set={change}" for change in project.grid]
            command = [sys.executable, "-m", "flows.relog", "--study", STUDY, "--dataset", "digits", *grid]
            relogged = subprocess.run(
                command, cwd=PACKAGE_ROOT, env=project.variables(), capture_output=True, text=True
            )
    runs = tracked(project)
    cells = len([name for name, _ in runs if name != "parent"])
    return {
        f"the sweep ends with status {status} and a line: {told[-1] if told else ''}": status == 1
        and bool(told)
        and sweep.rows.exists(),
        f"some cells were missed ({sum(missed.values())} runs before)": sum(missed.values()) < 9,
        f"relog: {relogged.stdout.strip()}": relogged.returncode == 0,
        "every cell is there once, all finished": cells == 8 and set(runs.values()) == {1},
        "every run has finished": {status for _, status in runs} == {"FINISHED"},
    }


def disk(root: Path) -> Checks:
    """A store on a file system of one megabyte, then of more."""
    place = root / "small"
    place.mkdir(parents=True)
    calm = _own_store(root, "calm").start("threads", "--plain").finished()
    project = Project(root, environment={"POINT_STORE": str(place)})
    mounted = (
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], check=False).returncode == 0
    )
    if not mounted:
        return {"a small file system can be mounted": False}
    try:
        sweep = project.start("threads", "--plain")
        status = sweep.wait()
        left = project.damage()
        before = project.points()
        subprocess.run(["mount", "-o", "remount,size=500m", str(place)], check=True)
        rows = project.start("threads", "--plain").finished()
        kept = all(project.points()[name] == stamp for name, stamp in before.items())
    finally:
        subprocess.run(["umount", str(place)], check=True)
    return {
        f"the sweep ends with status {status} and a line: {_last_line(sweep)}": status == 2 and _one_line(sweep),
        f"no unfinished point {left or ''}": left == [],
        f"the {len(before)} points before are kept": kept and bool(before),
        "with more room the rows are those of an undisturbed run": rows == calm,
    }


TRIALS = {trial.__name__: trial for trial in (runners, two, prefect, mlflow, disk)}


def tracked_quietly(project: Project) -> Counter[tuple[str, str]]:
    """MLflow's runs; none while there is no experiment."""
    try:
        return tracked(project)
    except AssertionError:
        return Counter()


def _own_store(root: Path, name: str) -> Project:
    return Project(root, environment={"POINT_STORE": str(root / f"store-{name}")}, attempts=100 + len(name))


def _last_line(sweep: Sweep) -> str:
    return ([*sweep.said.splitlines(), "nothing"][-2])[:200]


def _one_line(sweep: Sweep) -> bool:
    return "Traceback" not in sweep.said


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.failures", description="how sweeps end, and go on")
    parser.add_argument("trial", nargs="*", metavar="TRIAL", help=f"some of {', '.join(TRIALS)} (default: all)")
    parser.add_argument("--root", type=Path, help="keep everything below this folder (default: a temporary one)")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.trial) - set(TRIALS):
        parser.error(f"no such trial: {', '.join(unknown)}")
    sound = True
    with tempfile.TemporaryDirectory() as place:
        for name in chosen.trial or TRIALS:
            started = time.monotonic()
            checks = TRIALS[name]((chosen.root or Path(place)) / name)
            print(f"{name} ({time.monotonic() - started:.0f} s)")
            for check, holds in checks.items():
                print(f"  {'ok  ' if holds else 'FAIL'} {check}", flush=True)
            sound = sound and all(checks.values())
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
