from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from flows.context.coverage import check_coverage
from flows.context.request import StudyRequest
from flows.run.command_line import main
from flows.studies.registry import declared
from flows.studies.requests import read_request
from tasks.evaluation.tables.rows import Row
from tasks.parameters.classification import NodeClassification
from tasks.point_folder import file_sha256
from tasks.steps.node_classification.search import search

STUDY = "node_classification"
METRICS = {"accuracy", "macro_f1", "mean_degree", "noise_edges", "search_points"}
# Of one data set, one budget each, one backbone and two repeats: the data set; then splits, labels, features, edges,
# trained networks and scores.
POINTS = 1 + 6 * 2


class Result:
    """What one run of the command said."""

    def __init__(self, status: int, out: str, err: str, rows: list[dict[str, Any]]) -> None:
        self.status, self.out, self.err, self.rows = status, out, err, rows

    @property
    def counts(self) -> tuple[int, int]:
        """Points computed, points found."""
        found = re.findall(r"(\d+) points computed, (\d+) found in the store", self.err)[-1]
        return int(found[0]), int(found[1])

    @property
    def computed(self) -> list[str]:
        """Names of the points that were computed."""
        return re.findall(r"^computed in [\d.]+ s: (.*)$", self.err, re.MULTILINE)


Run = Callable[..., Result]
Declare = Callable[..., None]


def client() -> MlflowClient:
    return MlflowClient(os.environ["MLFLOW_TRACKING_URI"])


@pytest.fixture
def run(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*arguments: str) -> Result:
        file = tmp_path / "rows.json"
        file.unlink(missing_ok=True)
        status = main(STUDY, ["--plain", "--json", str(file), *arguments])
        out, err = capsys.readouterr()
        return Result(status, out, err, json.loads(file.read_text()) if file.exists() else [])

    return command


def test_rows_have_the_agreed_form_and_a_second_run_computes_nothing(run: Run) -> None:
    first = run("--set", f'{STUDY}.eps_a=["8.0"]')
    assert (first.status, first.counts) == (0, (POINTS, 0))
    assert len(first.rows) == 2 * len(METRICS)
    for row in first.rows:
        assert list(row) == ["study", "dataset", "method", "settings", "repeat", "metric", "value"]
        assert (row["study"], row["dataset"], row["method"]) == (STUDY, "digits", "base")
        assert row["settings"] == {
            "backbone": "gcn", "eps_a": "8", "eps_x": "1", "label_rate": "0.5", "mode": "directed"
        }  # fmt: skip
        assert isinstance(row["value"], (int, float))
    assert {row["metric"] for row in first.rows} == METRICS
    assert {row["repeat"] for row in first.rows} == {0, 1}
    assert all(0 <= row["value"] <= 1 for row in first.rows if row["metric"] in ("accuracy", "macro_f1"))
    assert "digits   base    gcn       8      1" in first.out
    assert "no protection" in first.out

    again = run()
    assert (again.status, again.counts, again.rows) == (0, (0, POINTS), first.rows)

    more = run("--set", f'{STUDY}.eps_a=[8, "inf"]')
    assert more.status == 0
    assert Counter(name.split()[0] for name in more.computed) == {"perturb": 2, "search": 2, "score": 2}
    assert all("eps_a=inf" in name for name in more.computed)
    assert [row for row in more.rows if row["settings"]["eps_a"] == "8"] == first.rows
    without_noise = {row["metric"]: row["value"] for row in more.rows if row["settings"]["eps_a"] == "inf"}
    assert without_noise["noise_edges"] == 0


def test_every_runner_gives_the_same_bytes(
    declare: Declare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(private=False)
    written = {}
    # Every worker that is a process imports torch and dgl anew: one of each kind shows what there is to see.
    for runner, workers in (("threads", 2), ("processes", 1), ("dask", 1)):
        monkeypatch.setenv("POINT_STORE", str(tmp_path / runner))
        file = tmp_path / f"{runner}.json"
        arguments = ["--set", f'runner="{runner}"', f"--set=workers={workers}", "--dataset=friends", f"--json={file}"]
        assert main(STUDY, ["--plain", *arguments]) == 0
        assert f"{POINTS - 1} points computed, 0 found" in capsys.readouterr().err
        written[runner] = file.read_bytes()
    assert len(json.loads(written["threads"])) == 2 * len(METRICS)
    assert written["processes"] == written["threads"]
    assert written["dask"] == written["threads"]


def test_parts_add_lines_and_draw_what_these_need(run: Run) -> None:
    parts = [{"eps_a": [10], "mode": "pair"}, {"label_rates": [0.1, 0.2], "methods": ["solitude"]}]
    result = run("--set", f"{STUDY}.parts={json.dumps(parts)}")
    assert result.status == 0
    lines = Counter((row["method"], *row["settings"].values()) for row in result.rows if row["metric"] == "accuracy")
    assert lines == {
        ("base", "gcn", "8", "1", "0.5", "directed"): 2,
        ("base", "gcn", "10", "1", "0.5", "pair"): 2,
        ("solitude", "gcn", "8", "1", "0.1", "directed"): 2,
        ("solitude", "gcn", "8", "1", "0.2", "directed"): 2,
    }
    drawn = [name.rsplit(" repeat", 1)[0] for name in result.computed if name.startswith(("perturb", "report"))]
    assert Counter(drawn) == dict.fromkeys(
        [
            "perturb features digits eps_x=1",
            "perturb edges digits directed eps_a=8",
            "perturb edges digits pair eps_a=10",
            "report labels digits",
            "report labels digits label_rate=0.1",
            "report labels digits label_rate=0.2",
        ],
        2,
    )
    told = [row for row in result.rows if row["metric"] == "edge_auc"]
    assert {row["method"] for row in told} == {"solitude"}
    assert all(0 <= row["value"] <= 1 for row in told)
    profile = read_request(StudyRequest(overrides=[f"{STUDY}.parts={json.dumps(parts)}"])).demo
    check_coverage([Row(**row) for row in result.rows], declared(STUDY), profile)


def test_the_shared_choice_is_a_protocol_with_a_label_of_its_own(run: Run) -> None:
    search = {"learning_rate": [0.1, 0.001], "epochs": 5}
    grid = ("--set", f"{STUDY}.search={json.dumps(search)}", "--set", f'{STUDY}.methods=["base","label-propagation"]')
    plain = run(*grid)
    both = run(*grid, "--set", f"{STUDY}.shared_choice=true")
    assert both.status == 0
    assert Counter(name.split()[0] for name in both.computed) == {"search": 1, "score": 2}
    added = [row for row in both.rows if row not in plain.rows]
    assert {row["method"] for row in added} == {"base (shared choice)"}
    assert sorted(row["repeat"] for row in added if row["metric"] == "accuracy") == [0, 1]
    assert run(*grid, "--set", f"{STUDY}.shared_choice=true").counts[0] == 0


def test_what_the_searches_take_is_said_before_and_after(run: Run) -> None:
    search = {"l_x": [0, 2], "l_y": [0, 1], "dropout": [0.1, 0.5], "epochs": 7, "strategy": "halving"}
    grid = ("--set", f"{STUDY}.search={json.dumps(search)}", "--set", f'{STUDY}.methods=["lpgnn","solitude"]')
    first = run(*grid)
    (before,) = re.findall(r"^forecast: 4 searches of 32 points, at most (\d+) model-epochs", first.err, re.MULTILINE)
    (after,) = re.findall(r"^searches took [a-z\d. ]+ and (\d+) model-epochs", first.err, re.MULTILINE)
    assert int(before) >= int(after) > 0
    assert first.err.index("forecast:") < first.err.index("search digits")
    assert "forecast" not in run(*grid).err


def test_a_failing_point_is_reported_and_the_rest_goes_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = search.plain  # type: ignore[attr-defined]

    def failing(*args: Any, repeat: int, study: NodeClassification, **kwargs: Any) -> Any:
        if repeat == 1:
            raise FloatingPointError("diverged")
        return sound(*args, repeat=repeat, study=study, **kwargs)

    monkeypatch.setattr(search, "plain", failing)
    result = run()
    assert result.status == 1
    assert {row["repeat"] for row in result.rows} == {0}
    failed = [line for line in result.err.splitlines() if line.startswith("failed: ")]
    name = "search digits base gcn eps_x=1 eps_a=8 repeat=1"
    assert failed == [f"failed: {name}: FloatingPointError: diverged"]
    assert "Traceback" not in result.err

    monkeypatch.setattr(search, "plain", sound)
    mended = run()
    assert (mended.status, mended.computed) == (0, [name, name.replace("search", "score")])


def test_without_a_single_result_there_is_an_empty_array(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*args: Any, **kwargs: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(search, "plain", failing)
    result = run("--export")
    assert (result.status, result.rows) == (1, [])
    assert "Traceback" not in result.err


def test_a_damaged_point_is_computed_again_and_said_so(run: Run, tmp_path: Path) -> None:
    before = run()
    (trained,) = [path.parent for path in (tmp_path / "store/points").glob("*/trained.npz")][:1]
    (trained / "trained.npz").write_bytes(b"x")
    after = run()
    assert (after.status, after.rows) == (0, before.rows)
    assert after.counts == (1, POINTS - 1)
    remark = f"stored point {trained.name} was damaged: trained.npz has changed; computed again: search digits"
    assert [line for line in after.err.splitlines() if line.startswith(remark)]


def test_a_data_set_named_twice_runs_once(run: Run) -> None:
    assert run("--dataset", "digits", "digits", "--dataset", "digits").counts == (POINTS, 0)


def test_a_private_graph_runs_to_the_end_and_gives_nothing_away(
    run: Run, declare: Declare, workspace: Path, own_files: Path
) -> None:
    declare("secrets")
    result = run("--dataset", "secrets", "--set", "seed=null")
    assert result.status == 0
    assert {row["metric"] for row in result.rows} == {"accuracy", "macro_f1", "search_points"}
    assert "1-LDP" in result.out
    assert "noise reproducible from the seed" not in result.out
    assert run("--dataset", "secrets", "--set", "seed=null").counts == (0, POINTS - 1)

    (experiment,) = [x for x in client().search_experiments() if x.name == STUDY]
    runs = client().search_runs([experiment.experiment_id], "params.dataset = 'secrets'")
    assert runs
    digests = [file_sha256(path) for path in own_files.iterdir()]
    for logged in runs:
        assert "data_digest" not in logged.data.tags
        assert not [name for name in logged.data.metrics if name.startswith(("noise_edges", "mean_degree"))]
        assert not [digest for digest in digests if digest[:16] in str(logged.data.tags)]


def test_a_private_graph_is_never_laid_below_data(run: Run, declare: Declare, workspace: Path) -> None:
    declare()
    named = run("--dataset", "friends", "--export")
    from_the_profile = run("--set", f'{STUDY}.datasets=["digits", "friends"]', "--export")
    for result in (named, from_the_profile):
        assert result.status == 2
        assert result.err == (
            "error: data set 'friends' is private and is never laid below data/; run without --export\n"
        )
    assert not (workspace / "data").exists()


def test_an_export_holds_points_rows_table_metrics_and_ledger(
    run: Run, declare: Declare, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(private=False)
    for stage in ("download", "perturb", STUDY):
        assert main(stage, ["--plain", "--dataset", "friends", "--export"]) == 0
    data = workspace / "data"
    results = data / "results/demo" / STUDY / "friends"
    names = {"points", "rows.json", "table.csv", "metrics.json", "ledger.json", "ledger.md"}
    assert {path.name for path in results.iterdir()} == names
    assert list((data / "raw/demo/friends").iterdir()) == []
    assert len(list((data / "noisy/demo/node_classification/friends").iterdir())) == 4 * 2
    assert len(list((results / "points").iterdir())) == 2 * 2
    metrics = json.loads((results / "metrics.json").read_text())
    assert set(metrics["base backbone=gcn eps_a=8 eps_x=1 label_rate=0.5 mode=directed"]) == METRICS

    # What DVC pulled is as good as the store: nothing is computed again.
    monkeypatch.setenv("POINT_STORE", str(tmp_path / "empty store"))
    again = run("--dataset", "friends")
    assert again.counts == (0, POINTS - 1)
    assert again.rows == json.loads((results / "rows.json").read_text())


def test_a_declared_budget_is_checked_before_anything_is_drawn(run: Run, tmp_path: Path) -> None:
    result = run("--set", f"{STUDY}.budget=8.5")
    assert result.status == 2
    assert "one deployment costs a user 9" in result.err
    assert not list((tmp_path / "store/points").glob("*/report.npz"))


def test_runs_are_comparable_in_mlflow_and_logged_once(run: Run) -> None:
    grid = ("--set", f"{STUDY}.eps_a=[6, 9]", "--set", "seed=77")
    assert run(*grid).status == run(*grid).status == 0
    (experiment,) = [x for x in client().search_experiments() if x.name == STUDY]
    found = client().search_runs([experiment.experiment_id])
    runs = [child for child in found if child.data.params.get("eps_a") in ("6", "9")]
    assert sorted(child.data.params["eps_a"] for child in runs) == ["6", "9"]
    (parent,) = {child.data.tags["mlflow.parentRunId"] for child in runs}
    for child in runs:
        assert child.data.params | {"eps_a": ""} == {
            "dataset": "digits", "method": "base", "repeats": "2", "backbone": "gcn", "eps_x": "1", "eps_a": "",
            "mode": "directed", "label_rate": "0.5",
        }  # fmt: skip
        assert {"data_digest", "git_revision", "dvc_revision", "mechanism_version"} <= set(child.data.tags)
        assert set(child.data.metrics) >= METRICS
    assert client().get_run(parent).info.status == "FINISHED"
    assert {x.path for x in client().list_artifacts(parent)} == {
        "table.txt", "table.csv", "tables", "figures", "ledger.md", "ledger.json", "params.json", "environment.json",
    }  # fmt: skip
