"""What Prefect and MLflow add to a sweep: 60 searches on Cora, the same code with both and with neither.

The searches are the paper profile's own of ``base``, the method with the shortest, without its second protocol:
6 budgets, 2 networks, 5 repeats, about 3.5 core-seconds each. They join a Prefect server that runs, as ``make ui``
leaves one running. Before them come three sweeps of 2 short searches: the first lays out the databases, once in a
project's life; the second starts the server; the third joins it, which tells what is fixed. Each sweep starts with an
empty store. Processor time counts the sweep, its workers and the server; wall time is only meaningful on a quiet
machine.

Run: ``python -m benchmarks.overhead [--small] [--json FILE]``. Needs Cora (network, or GRAPH_DATA_MIRROR). Status 1
where the share of wall time is 5% or more, with a running server or with one of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.sweeping import Project

BOUND = 0.05
SEARCHES = 60
GRID = (
    'device="cpu"',
    'node_classification.methods=["base"]',
    "node_classification.parts=[]",
    "node_classification.shared_choice=false",
)
FEW = 2
FIRST, OWN_SERVER, JOINED, ALL = "first", "own server", "joined", "all"
LINES = {
    "share": "share | {:.1%} | {:.1%}",
    "fixed": "of it fixed, s | {:.1f} | {:.1f}",
    "search_ms": "of it a search, ms | {:.0f} | {:.0f}",
    "server": "a server of its own, s | {:.1f} | {:.1f}",
    "share_with_server": "share with that | {:.1%} | {:.1%}",
    "first": "first run in a project, s more | {:.1f} | {:.1f}",
}
SMALL = (
    *GRID,
    "repeats=1",
    'node_classification.backbones=["gcn"]',
    "node_classification.eps_a=[7, 8]",
    "node_classification.searches={}",
    'node_classification.search={"epochs": 20}',
)
BARE = """
import sys
from flows.run.command_line import main
from flows.tracking.mlflow_log import Tracker
Tracker.cell = Tracker.finish = Tracker.prepare = lambda *arguments: None
sys.exit(main("sweep", sys.argv[1:]))
"""
"""The sweep without MLflow."""


@dataclass(frozen=True)
class Side:
    """Seconds from start to end, and of all processors."""

    wall: float
    processor: float
    rows: bytes


def sides(root: Path, grids: Mapping[str, Sequence[str]], *, bare: bool) -> dict[str, Side]:
    """Sweeps by processes in one project, one after the other; all but the first leave the server to the next."""
    found = {}
    for name, grid in grids.items():
        project = Project(root, grid, {"POINT_STORE": str(root / name)}, dataset="cora")
        try:
            found[name] = sweep(project, bare=bare)
        except BaseException:
            project.stop_server()
            raise
        if name in (FIRST, list(grids)[-1]):
            project.stop_server()
    return found


def sweep(project: Project, *, bare: bool) -> Side:
    """One sweep."""
    profile = ("--profile", "paper")
    before, started = _processor() + project.server_seconds(), time.perf_counter()
    running = (
        project.start("processes", *profile, "--plain", command=("-c", BARE))
        if bare
        else project.start("processes", *profile)
    )
    rows = running.finished(3600)
    wall = time.perf_counter() - started
    return Side(wall, _processor() + project.server_seconds() - before, rows)


def _processor() -> float:
    """Seconds of all children that have ended and were waited for, by us or by them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description="cost of Prefect and MLflow")
    parser.add_argument("--small", action="store_true", help="the short sweeps alone: for a look at what is fixed")
    parser.add_argument("--json", type=Path, help="write the figures")
    chosen = parser.parse_args(arguments)
    grids: dict[str, Sequence[str]] = dict.fromkeys((FIRST, OWN_SERVER, JOINED), SMALL)
    if not chosen.small:
        grids[ALL] = GRID
    with tempfile.TemporaryDirectory() as place:
        bare = sides(Path(place) / "bare", grids, bare=True)
        full = sides(Path(place) / "full", grids, bare=False)
    assert all(bare[name].rows == full[name].rows for name in grids)
    found = {measure: added(measure, bare, full) for measure in ("wall", "processor")}
    print("| | wall s | processor s |\n| --- | --- | --- |")
    last = list(grids)[-1]
    for name, side in (("neither", bare[last]), ("Prefect and MLflow", full[last])):
        print(f"| {name} | {side.wall:.1f} | {side.processor:.1f} |")
    for name, shown in LINES.items():
        if name in found["wall"]:
            print(f"| {shown.format(*(found[measure][name] for measure in ('wall', 'processor')))} |")
    if chosen.json:
        seconds = {
            side: {name: {k: v for k, v in asdict(one).items() if k != "rows"} for name, one in of.items()}
            for side, of in (("bare", bare), ("full", full))
        }
        chosen.json.write_text(json.dumps({"grids": grids, "sides": seconds, "added": found}, indent=1) + "\n")
    return 0 if max(found["wall"]["share"], found["wall"]["share_with_server"]) < BOUND else 1


def added(measure: str, bare: Mapping[str, Side], full: Mapping[str, Side]) -> dict[str, float]:
    """What is added to the last sweep, seconds but for shares and milliseconds: see ``LINES``."""
    more = {name: getattr(full[name], measure) - getattr(bare[name], measure) for name in full}
    last = list(more)[-1]
    server, total = more[OWN_SERVER] - more[JOINED], getattr(full[last], measure)
    found = {
        "share": more[last] / total,
        "fixed": more[JOINED],
        "server": server,
        "share_with_server": (more[last] + server) / (total + server),
        "first": more[FIRST] - more[OWN_SERVER],
    }
    return found | ({"search_ms": 1000 * (more[ALL] - more[JOINED]) / (SEARCHES - FEW)} if ALL in more else {})


if __name__ == "__main__":
    sys.exit(main())
