"""What Prefect and MLflow add to a sweep: 60 searches on Cora, the same code with both and with neither.

The searches are the paper profile's own of ``base``, without its second protocol: 6 budgets, 2 networks, 5 repeats,
about 3.5 core-seconds each. Before them, each side runs two sweeps of 2 short searches. The first lays out the
databases, once in a project's life, and is not counted; the second tells what is fixed, and the rest grows with
searches. Each sweep starts with an empty store and without a server. Processor time counts the sweep, its workers and
its Prefect server; wall time is only meaningful on a quiet machine.

Run: ``python -m benchmarks.overhead [--small] [--json FILE]``. Needs Cora (network, or GRAPH_DATA_MIRROR). Status 1
where the share of wall time is 5% or more.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
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
from flows.command import main
from flows.tracking import Tracker
Tracker.cell = Tracker.finish = lambda *arguments: None
sys.exit(main("sweep", sys.argv[1:]))
"""
"""The sweep without MLflow."""


@dataclass(frozen=True)
class Side:
    """Seconds from start to end, and of all processors."""

    wall: float
    processor: float
    rows: bytes


def sides(root: Path, grids: Sequence[Sequence[str]], *, bare: bool) -> list[Side]:
    """Sweeps by processes in one project, one after the other, each with an empty store and without a server."""
    return [sweep(root, f"store-{number}", grid, bare=bare) for number, grid in enumerate(grids)]


def sweep(root: Path, store: str, grid: Sequence[str], *, bare: bool) -> Side:
    """One sweep."""
    project = Project(root, grid, {"POINT_STORE": str(root / store)}, dataset="cora")
    before, started = _processor(), time.perf_counter()
    try:
        profile = ("--profile", "paper")
        running = (
            project.start("processes", *profile, "--plain", command=("-c", BARE))
            if bare
            else project.start("processes", *profile)
        )
        rows = running.finished(3600)
        wall = time.perf_counter() - started
        server = project.server_seconds()
    finally:
        project.stop_server()
    return Side(wall, _processor() - before + server, rows)


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
    grids = [SMALL, SMALL] if chosen.small else [SMALL, SMALL, GRID]
    with tempfile.TemporaryDirectory() as place:
        bare = sides(Path(place) / "bare", grids, bare=True)
        full = sides(Path(place) / "full", grids, bare=False)
    assert [side.rows for side in bare] == [side.rows for side in full]
    found = {name: _added(name, bare, full) for name in ("wall", "processor")}
    print("| | wall s | processor s |\n| --- | --- | --- |")
    for name, side in (("neither", bare[-1]), ("Prefect and MLflow", full[-1])):
        print(f"| {name} | {side.wall:.1f} | {side.processor:.1f} |")
    print(f"| share | {found['wall']['share']:.1%} | {found['processor']['share']:.1%} |")
    print(f"| of it fixed, s | {found['wall']['fixed']:.1f} | {found['processor']['fixed']:.1f} |")
    if not chosen.small:
        print(f"| of it a search, ms | {found['wall']['search_ms']:.0f} | {found['processor']['search_ms']:.0f} |")
    print(f"| first run in a project, s | {found['wall']['first']:.1f} | {found['processor']['first']:.1f} |")
    if chosen.json:
        seconds = {
            name: [{k: v for k, v in asdict(side).items() if k != "rows"} for side in both]
            for name, both in (("bare", bare), ("full", full))
        }
        chosen.json.write_text(json.dumps({"grids": grids, "sides": seconds, "added": found}, indent=1) + "\n")
    return 0 if found["wall"]["share"] < BOUND else 1


def _added(name: str, bare: Sequence[Side], full: Sequence[Side]) -> dict[str, float]:
    """What is added to the last sweep: its share, what is fixed, milliseconds a search; and to a first run on top."""
    added = [getattr(with_both, name) - getattr(without, name) for without, with_both in zip(bare, full, strict=True)]
    return {
        "share": added[-1] / getattr(full[-1], name),
        "fixed": added[1],
        "search_ms": 1000 * (added[-1] - added[1]) / (SEARCHES - FEW),
        "first": added[0] - added[1],
    }


if __name__ == "__main__":
    sys.exit(main())
