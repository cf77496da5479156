from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mlflow import MlflowClient

from flows.run.command_line import main
from tasks.client.ego_graphs import OVERLAP
from tasks.evaluation.graph_classification.ego_figures import read_maps
from tests.flows.conftest import write_report

STUDY = "ego_clustering"
REPEATS = 2
GRID = [
    'encoders=["per_row","gaussian_scale"]',
    'eps=["1/n","inf"]',
    "graphs=60",
    "hops=[1,2]",
    "rounds=2",
    "clients=3",
]
# The graph and its centres; for each reach and repeat a split, a network, three reports, their distances, analyses
# and fives, four partitions and scores; and maps of the first repeat.
POINTS = 1 + 2 * (REPEATS * (1 + 1 + 4 * 3 + 2 * 4) + 3)
SCORES = {"ari", "nmi", "accuracy", "most_reports_of_a_node"}
DISTANCES = {"gw_mean", "gw_sd", "knn_5_accuracy", "knn_20_accuracy", "five_gw_mean", "five_gw_sd"}

Run = Callable[..., tuple[int, str, str, list[dict[str, Any]]]]


@pytest.fixture
def run(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command on sixty ego graphs of the small graph."""

    def command(*arguments: str) -> tuple[int, str, str, list[dict[str, Any]]]:
        file = tmp_path / "rows.json"
        file.unlink(missing_ok=True)
        grid = [f"--set={STUDY}.{setting}" for setting in GRID]
        status = main(STUDY, ["--plain", "--dataset", "friends", "--json", str(file), *grid, *arguments])
        out, err = capsys.readouterr()
        return status, out, err, json.loads(file.read_text()) if file.exists() else []

    return command


def counts(err: str) -> tuple[int, int]:
    found = re.findall(r"(\d+) points computed, (\d+) found in the store", err)[-1]
    return int(found[0]), int(found[1])


def test_rows_figures_and_ledgers(run: Run, declare: Callable[..., None], workspace: Path) -> None:
    declare(private=False)
    status, out, err, rows = run("--export")
    assert (status, sum(counts(err))) == (0, POINTS)
    lines = Counter(
        (row["dataset"], row["method"], row["settings"].get("encoder", ""), row["settings"].get("eps", ""))
        for row in rows
        if row["metric"] == "ari"
    )
    assert lines == {
        (f"friends-{hops}-hop", method, encoder, eps): REPEATS
        for hops in (1, 2)
        for method, encoder, eps in (
            ("node-count", "", ""),
            ("gw-k-means", "none", "inf"),
            ("gw-k-means", "per_row", "1/n"),
            ("gw-k-means", "gaussian_scale", "1/n"),
        )
    }
    for method, metrics in (("node-count", SCORES), ("gw-k-means", SCORES | DISTANCES)):
        assert {row["metric"] for row in rows if row["method"] == method} == metrics

    assert "no guarantee: weights trained on raw graphs cross in clear" in out
    assert OVERLAP in out
    assert (
        "Encoder per_row on friends-2-hop, guaranteed for the embedding: eps for the graph; for training: none" in out
    )
    results = workspace / "data" / "results" / "demo" / STUDY / "friends"
    tables = {"rows.json", "table.csv", "maps.csv", "metrics.json", "ledger.json", "ledger.md"}
    assert {path.name for path in results.iterdir()} == tables | {"points"}
    assert len(list((workspace / "data" / "noisy" / "demo" / STUDY / "friends").iterdir())) == 2 * REPEATS * 3
    assert len(json.loads((results / "metrics.json").read_text())) == 2 * 4
    maps = read_maps(results / "maps.csv")
    seen = maps.groupby(["dataset", "encoder", "eps"]).size()
    assert (len(seen), set(seen)) == (2 * 3, {60})
    written = {name: (results / name).read_bytes() for name in tables}

    status, _, err, again = run("--export")
    assert (status, counts(err), again) == (0, (0, POINTS), rows)
    assert written == {name: (results / name).read_bytes() for name in tables}

    client = MlflowClient(os.environ["MLFLOW_TRACKING_URI"])
    (experiment,) = [x for x in client.search_experiments() if x.name == STUDY]
    children = {x.info.run_name: x for x in client.search_runs([experiment.experiment_id])}
    for name in ("node-count node counts", "gw-k-means gcn-H encoder=none eps=inf"):
        child = children[f"friends-1-hop {name}"]
        assert {x.path for x in client.list_artifacts(child.info.run_id)} == {"confusion.csv"}
        text = Path(client.download_artifacts(child.info.run_id, "confusion.csv", str(workspace))).read_text()
        matrix = np.array([line.split(",")[1:] for line in text.splitlines()[1:]], dtype=int)
        assert matrix.sum() == REPEATS * 60
        assert matrix.trace() / matrix.sum() == pytest.approx(child.data.metrics["accuracy"])

    # The report shows all of it.
    assert "gw-k-means" in write_report("demo")
    place = workspace / "data" / "results" / "demo" / "report"
    page = (place / "report.html").read_text()
    scores = {f"ego_{metric}_by_epsilon" for metric in ("ari", "nmi", "accuracy", "gw")}
    drawn = {f"ego_maps_friends-{hops}-hop_{encoder}" for hops in (1, 2) for encoder in ("per_row", "gaussian_scale")}
    drawn |= scores | {"ego_five_graphs"}
    assert {path.stem for path in (place / "egos").iterdir()} == drawn
    assert all(f"figures/{name}.pdf" in page for name in drawn)
    for words in ("ego clustering", "friends-2-hop: mean", "t-SNE", "adjusted Rand index", OVERLAP.split(":")[0]):
        assert words in page


def test_no_finite_budget_pays_for_model_updates_in_clear(run: Run, declare: Callable[..., None]) -> None:
    declare(private=False)
    status, _, err, _ = run(f"--set={STUDY}.budget=1000")
    assert status == 2
    assert "friends: one deployment costs a user inf (model updates, in clear inf)" in err


def test_a_set_of_graphs_and_a_private_export_are_refused_in_one_line(
    run: Run, declare: Callable[..., None], capsys: pytest.CaptureFixture[str], workspace: Path
) -> None:
    declare(private=True)
    status, _, err, rows = run("--export")
    assert (status, rows) == (2, [])
    assert "data set 'friends' is private and is never laid below data/" in err
    assert main(STUDY, ["--plain", "--dataset", "mutag"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        "error: mutag is a set of graphs; ego clustering needs one graph: take --dataset digits"
    )
