"""What Prefect and MLflow add to a sweep: 60 searches on Cora, the same code with both and with neither.

Each side starts with an empty store. Processor time counts the sweep, its workers and its Prefect server; wall time is
only meaningful on a quiet machine. The difference is start-up, which every sweep pays once, and what grows with points.

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
GRID = (
    "seed=0",
    "repeats=3",
    'node_classification.methods=["base", "mutual"]',
    'node_classification.backbones=["gcn", "sage"]',
    "node_classification.eps_a=[7, 7.3, 7.5, 7.7, 8]",
    'node_classification.search={"l_x": [0, 2, 4], "dropout": [0.25, 0.5, 0.75], "epochs": 300, "patience": 100}',
)
SMALL = (
    "seed=0",
    "repeats=1",
    'node_classification.methods=["base"]',
    'node_classification.backbones=["gcn"]',
    "node_classification.eps_a=[7, 8]",
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


def side(root: Path, grid: Sequence[str], dataset: str, *, bare: bool) -> Side:
    """One sweep by processes on an empty store."""
    project = Project(root, grid, dataset=dataset)
    before, started = _processor(), time.perf_counter()
    try:
        sweep = project.start("processes", "--plain", command=("-c", BARE)) if bare else project.start("processes")
        rows = sweep.finished(3600)
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
    parser.add_argument("--small", action="store_true", help="two searches on digits: for a look at the start-up alone")
    parser.add_argument("--json", type=Path, help="write the figures")
    chosen = parser.parse_args(arguments)
    grid, dataset = (SMALL, "digits") if chosen.small else (GRID, "cora")
    with tempfile.TemporaryDirectory() as place:
        bare = side(Path(place) / "bare", grid, dataset, bare=True)
        full = side(Path(place) / "full", grid, dataset, bare=False)
    assert bare.rows == full.rows
    shares = {name: (getattr(full, name) - getattr(bare, name)) / getattr(full, name) for name in ("wall", "processor")}
    print("| | wall s | processor s |\n| --- | --- | --- |")
    for name, found in (("neither", bare), ("Prefect and MLflow", full)):
        print(f"| {name} | {found.wall:.1f} | {found.processor:.1f} |")
    print(f"| share | {shares['wall']:.1%} | {shares['processor']:.1%} |")
    if chosen.json:
        sides = {"bare": bare, "full": full}
        seconds = {name: {k: v for k, v in asdict(found).items() if k != "rows"} for name, found in sides.items()}
        chosen.json.write_text(json.dumps({"grid": grid, "sides": seconds, "shares": shares}, indent=1) + "\n")
    return 0 if shares["wall"] < BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
