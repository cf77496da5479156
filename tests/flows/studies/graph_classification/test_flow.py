from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mlflow import MlflowClient

from flows.context.coverage import check_coverage
from flows.context.request import StudyRequest
from flows.context.study import Study
from flows.model import load_model
from flows.run.command_line import main
from flows.studies.graph_classification.kernels import baseline_distances
from flows.studies.registry import declared
from flows.studies.requests import read_request
from tasks.broadcasts.weights import ModelWeights
from tasks.datasets.catalogue.readers import load_dataset
from tasks.errors import UserError
from tasks.evaluation.tables.rows import Row
from tasks.parameters.graphs import GraphClassification
from tasks.parameters.profiles import Profile
from tasks.steps import raw_source

STUDY = "graph_classification"
REPEATS = 2
KERNEL = {"smallest_eigenvalue", "negative_mass", "validation_accuracy"}
ANALYSIS = {"gw_mean", "gw_sd", "knn_5_accuracy", "knn_20_accuracy"}
# Of one data set: the set; for each repeat a split, labels, a network, three reports, their distances and
# analyses, seven machines and eight scores; for all repeats together the distances of svm-gw, which svm-fgw shares, of
# svm-fgw (four) and of node counts.
POINTS = 1 + REPEATS * (3 + 3 + 3 + 3 + 7 + 8) + 6
GRID = ['backbones=["gin"]', 'encoders=["per_row","gaussian_scale"]', 'eps=["1/n","inf"]', "rounds=2", "clients=3"]

Run = Callable[..., tuple[int, str, str, list[dict[str, Any]]]]


def test_no_finite_budget_pays_for_model_updates_in_clear(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(STUDY, ["--plain", "--set", f"{STUDY}.budget=1000"]) == 2
    assert "mutag: one deployment costs a user inf (model updates, in clear inf)" in capsys.readouterr().err


@pytest.fixture
def run(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Run]:
    """The command on the first thirty graphs of MUTAG."""

    def few(name: str, *arguments: Any) -> Any:
        graphs = load_dataset(name, *arguments)
        if name != "mutag":
            return graphs
        return replace(graphs, graphs=graphs.graphs[:30], labels=np.arange(30) % 2)  # type: ignore[union-attr]

    monkeypatch.setattr(raw_source, "load_dataset", few)
    raw_source._load.cache_clear()

    def command(*arguments: str) -> tuple[int, str, str, list[dict[str, Any]]]:
        file = tmp_path / "rows.json"
        file.unlink(missing_ok=True)
        grid = [f"--set={STUDY}.{setting}" for setting in GRID]
        status = main(STUDY, ["--plain", "--json", str(file), *grid, *arguments])
        out, err = capsys.readouterr()
        return status, out, err, json.loads(file.read_text()) if file.exists() else []

    yield command
    raw_source._load.cache_clear()


def counts(err: str) -> tuple[int, int]:
    found = re.findall(r"(\d+) points computed, (\d+) found in the store", err)[-1]
    return int(found[0]), int(found[1])


def test_rows_have_the_agreed_form_and_a_second_run_computes_nothing(run: Run, workspace: Path) -> None:
    status, out, err, rows = run("--export")
    # Machines that predict alike share a score.
    assert (status, sum(counts(err))) == (0, POINTS)
    lines = {
        (row["method"], *(row["settings"].get(name, "") for name in ("input", "backbone", "encoder", "eps")))
        for row in rows
    }
    assert lines == {
        ("gin", "raw", "gin", "", ""),
        ("spk", "raw", "", "", ""),
        ("svm-gw", "raw", "", "", ""),
        ("svm-fgw", "raw", "", "", ""),
        ("node-count", "node counts", "", "", ""),
        ("svm-gw", "gin-H", "gin", "none", "inf"),
        ("svm-gw", "gin-H-ldp", "gin", "per_row", "1/n"),
        ("svm-gw", "gin-H-ldp", "gin", "gaussian_scale", "1/n"),
    }
    for row in rows:
        assert list(row) == ["study", "dataset", "method", "settings", "repeat", "metric", "value"]
        assert (row["study"], row["dataset"]) == (STUDY, "mutag")
    classes = {"accuracy", "macro_f1"}
    for shown, expected in (("gin", classes), ("spk", classes | KERNEL), ("svm-gw", classes | KERNEL | ANALYSIS)):
        assert {row["metric"] for row in rows if row["method"] == shown} == expected

    # Without noise that nobody can reproduce, and for the updates in any case, nothing is promised.
    assert "no guarantee: weights trained on raw graphs cross in clear" in out
    assert "Encoder per_row on mutag, guaranteed for the embedding: eps for the graph; for training: none" in out
    assert "Encoder gaussian_scale on mutag, guaranteed for the embedding: none; for training: none" in out
    data = workspace / "data"
    names = {"points", "rows.json", "table.csv", "metrics.json", "ledger.json", "ledger.md"}
    assert {path.name for path in (data / "results/demo" / STUDY / "mutag").iterdir()} == names
    assert len(list((data / "noisy/demo" / STUDY / "mutag").iterdir())) == REPEATS * (1 + 3)

    client = MlflowClient(os.environ["MLFLOW_TRACKING_URI"])
    (experiment,) = [x for x in client.search_experiments() if x.name == STUDY]
    children = {x.info.run_name: x for x in client.search_runs([experiment.experiment_id])}
    for name, files in (("gin raw", {"confusion.csv", "model"}), ("node-count node counts", {"confusion.csv"})):
        child = children[f"mutag {name}"]
        assert {x.path for x in client.list_artifacts(child.info.run_id)} == files
        table = Path(client.download_artifacts(child.info.run_id, "confusion.csv", str(workspace))).read_text()
        matrix = [[int(count) for count in line.split(",")[1:]] for line in table.splitlines()[1:]]
        assert sum(map(sum, matrix)) == REPEATS * 3  # a tenth of thirty graphs
        assert (matrix[0][0] + matrix[1][1]) / (REPEATS * 3) == pytest.approx(child.data.metrics["accuracy"])
    assert isinstance(load_model(children["mutag gin raw"].info.run_id), ModelWeights)

    status, _, err, again = run()
    assert (status, counts(err), again) == (0, (0, POINTS), rows)

    measured = [Row(**row) for row in rows]
    profile = read_request(StudyRequest(overrides=[f"{STUDY}.{setting}" for setting in GRID])).demo
    check_coverage(measured, declared(STUDY), profile)
    with pytest.raises(UserError, match=r"mutag gin .*has no row \(2 such lines\)"):
        check_coverage([row for row in measured if row.method != "gin"], declared(STUDY), profile)

    status, _, err, more = run(f'--set={STUDY}.eps=["1/n", 10, "inf"]', f'--set={STUDY}.encoders=["per_row"]')
    assert status == 0
    computed = re.findall(r"^computed in [\d.]+ s: (\w+) (.*)$", err, re.MULTILINE)
    assert Counter(step for step, _ in computed) == dict.fromkeys(
        ["encode", "compare", "classify", "analyse", "score"], REPEATS
    )
    assert all("encoder=per_row eps=10" in name for _, name in computed)
    kept = [row for row in rows if row["settings"].get("encoder") != "gaussian_scale"]
    assert [row for row in more if row["settings"].get("eps") != "10"] == kept


def test_a_single_graph_is_refused_in_one_line(run: Run) -> None:
    status, _, err, rows = run("--dataset", "digits")
    assert (status, rows) == (2, [])
    assert err.splitlines()[-1] == (
        "error: digits is one graph; graph classification needs a set of graphs, such as mutag"
    )


def test_without_features_of_nodes_there_is_nothing_to_fuse_with() -> None:
    """IMDB-BINARY has none, and no such row in the paper. Where they weigh nothing both machines read one point."""
    grid = GraphClassification(baselines=["svm-gw", "svm-fgw", "node-count"])
    nodes = {"datasets": ["digits"], "eps_x": [1], "eps_a": [1]}
    profile = Profile.model_validate({"node_classification": nodes, "graph_classification": grid})
    unused: Any = None
    study = Study(declared(STUDY), StudyRequest(), profile, [], {}, store=unused, submitter=unused)
    sources: Any = {"mutag": None, "imdb-binary": None}
    calls = [call.key for call in baseline_distances(study, sources)]
    found = [(cells[0].dataset, [cell.method for cell in cells], alpha) for cells, alpha in calls]
    assert sorted(found) == [
        ("imdb-binary", ["node-count"], 1.0),
        ("imdb-binary", ["svm-gw"], 1.0),
        ("mutag", ["node-count"], 1.0),
        *(("mutag", ["svm-fgw"], alpha) for alpha in (0.0, 0.25, 0.5, 0.75)),
        ("mutag", ["svm-gw", "svm-fgw"], 1.0),
    ]


def test_a_machine_that_shares_distances_has_the_rows_that_it_has_alone(run: Run) -> None:
    def raw(err: str) -> int:
        return len(re.findall(r"^computed in [\d.]+ s: compare mutag raw", err, re.MULTILINE))

    found = {}
    for baselines, computed in ((["svm-gw"], 1), (["svm-fgw"], 4), (["svm-gw", "svm-fgw"], 0)):
        status, _, err, rows = run(f"--set={STUDY}.baselines={json.dumps(baselines)}", f'--set={STUDY}.eps=["inf"]')
        assert (status, raw(err)) == (0, computed)
        found[" ".join(baselines)] = [row for row in rows if row["settings"]["input"] == "raw"]
    assert found["svm-gw svm-fgw"] == found["svm-fgw"] + found["svm-gw"]
