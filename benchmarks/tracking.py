"""MLflow with a thousand points: how long they take to log, to load and to sort.

Logs 1,000 children of one sweep as the pipeline does, each with settings, five metrics, a data set and a confusion
matrix; then asks a tracking server for them sorted by accuracy, a page of 100 as its web page does, and all of them.

Run: ``python -m benchmarks.tracking [--children N] [--pictures FOLDER] [--json FILE] [--keep FOLDER]``. ``--pictures``
opens MLflow's page in a browser, too (extra ``browser``), and sorts by a click on the column. ``--keep`` leaves the
database: ``mlflow ui --backend-store-uri sqlite:///FOLDER/mlflow.db``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from itertools import count, islice, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.sweeping import free_port, mlflow_server
from flows.system.environment import configure_environment
from tasks.evaluation.node_classification.confusion import confusion_csv
from tasks.steps.tracking.track import ParentRun, PublicData, close_parent, log_child, open_parent

AXES = {
    "dataset": ("cora", "citeseer", "lastfm", "facebook"),
    "method": ("base", "lpgnn", "solitude", "mutual", "bayes-soft"),
    "backbone": ("gcn", "sage"),
    "eps_x": ("0.1", "0.5", "1", "2", "inf"),
    "eps_a": ("7", "7.3", "7.5", "7.7", "7.9", "8", "inf"),
}


def log_children(uri: str, children: int) -> tuple[ParentRun, dict[str, float]]:
    """The parent, and milliseconds a child."""
    parent = open_parent(uri, "node_classification", "sweep", "a large sweep", {}, {})
    rng = np.random.default_rng(0)
    wall, processor = time.perf_counter(), time.process_time()
    points = (point for repeats in count(1) for point in product([str(repeats)], *AXES.values()))
    for number, (repeats, *values) in enumerate(islice(points, children)):
        settings = dict(zip(AXES, values, strict=True)) | {"repeats": repeats}
        metrics = {
            name: float(rng.random()) for name in ("accuracy", "accuracy_sd", "macro_f1", "macro_f1_sd", "edges")
        }
        table = confusion_csv(rng.integers(100, size=(7, 7)))
        log_child(
            parent,
            point_digest=f"p{number}",
            name=" ".join(values),
            params=settings,
            tags={"data_digest": "0" * 64},
            metrics=metrics,
            data=PublicData(settings["dataset"], "0" * 64),
            artifacts=lambda table=table: {"confusion.csv": table},  # type: ignore[misc]
        )
    taken = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    close_parent(parent, "FINISHED")
    return parent, {f"log_ms_a_child, {clock}": 1000 * seconds / children for clock, seconds in taken.items()}


def search(server: str, parent: ParentRun, order: str, page: int) -> tuple[list[dict[str, Any]], float]:
    """The runs of one request, and its seconds."""
    asked = {"experiment_ids": [parent.experiment_id], "order_by": [order], "max_results": page}
    asked["filter"] = f"tags.mlflow.parentRunId = '{parent.run_id}'"  # type: ignore[assignment]
    request = urllib.request.Request(
        f"{server}/api/2.0/mlflow/runs/search", json.dumps(asked).encode(), {"Content-Type": "application/json"}
    )
    started = time.perf_counter()
    with urllib.request.urlopen(request, timeout=120) as reply:
        runs = json.load(reply)["runs"]
    return runs, time.perf_counter() - started


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tracking", description="MLflow with many points")
    parser.add_argument("--children", type=int, default=1000)
    parser.add_argument("--pictures", type=Path, help="look at the page in a browser; folder for its pictures")
    parser.add_argument("--json", type=Path, help="write the figures")
    parser.add_argument("--keep", type=Path, help="folder for the database (default: a temporary one)")
    chosen = parser.parse_args(arguments)
    configure_environment()
    with tempfile.TemporaryDirectory() as place:
        folder = chosen.keep or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        parent, found = log_children(f"sqlite:///{folder}/mlflow.db", chosen.children)
        port = free_port()
        with mlflow_server(folder, port):
            for name, page in (("page_of_100_s", 100), ("all_s", chosen.children)):
                for order in ("metrics.accuracy DESC", "params.eps_a ASC"):
                    search(f"http://127.0.0.1:{port}", parent, order, page)  # the first request warms up
                    runs, took = search(f"http://127.0.0.1:{port}", parent, order, page)
                    assert len(runs) == min(page, chosen.children)
                    found[f"{name} by {order}"] = took
                    if order.startswith("metrics"):
                        accuracy = [
                            x["value"] for run in runs for x in run["data"]["metrics"] if x["key"] == "accuracy"
                        ]
                        assert accuracy == sorted(accuracy, reverse=True)
            if chosen.pictures:
                from benchmarks.tracking_page import read_page  # needs the extra

                found |= read_page(f"http://127.0.0.1:{port}", accuracy, chosen.pictures)
    for name, value in found.items():
        print(f"{name}: {value:.3g}")
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
