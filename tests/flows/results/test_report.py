from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from flows.report import main
from flows.studies.registry import declared
from flows.system.environment import PACKAGE_ROOT
from tasks.errors import UserError
from tasks.evaluation.graph_classification.graph_tables import TABLE_ONE
from tasks.evaluation.node_classification.solitude_tables import TABLES
from tasks.evaluation.node_embedding.embedding_tables import TABLES as EMBEDDING_TABLES
from tasks.evaluation.tables.rows import Row, read_rows, write_rows
from tasks.reports.ledgers.ledger_table import ledger_markdown, ledgers_json
from tests.flows.conftest import edge_ledger, write_report

STUDY = "node_classification"
FULL = {"mode": "directed", "label_rate": "0.5"}
CLEAN = {"input": "gcn-H", "backbone": "gcn", "encoder": "none", "eps": "inf"}
SCORED = {"train_ratio": "0.5", "scoring": "top_k"}


def rows(dataset: str, methods: tuple[str, ...] = ("base",)) -> list[Row]:
    return [
        Row(STUDY, dataset, method, {**FULL, "backbone": backbone, "eps_x": "1", "eps_a": eps_a}, repeat, metric, value)
        for method in methods
        for backbone in ("gcn", "sage")
        for eps_a in ("7", "inf")
        for repeat, value in enumerate((0.5, 0.52))
        for metric in ("accuracy", "macro_f1")
    ]


@pytest.fixture
def results(workspace: Path) -> Path:
    """Two data sets' results, one of them in the paper."""
    for dataset, methods in (("cora", ("base", "feature-only")), ("digits", ("base",))):
        folder = workspace / "data" / "results" / "demo" / STUDY / dataset
        write_rows(folder / "rows.json", rows(dataset, methods))
        ledger = edge_ledger(dataset)
        (folder / "ledger.md").write_text(ledger_markdown(ledger))
        (folder / "ledger.json").write_text(ledgers_json({"": ledger}))
    return workspace / "data" / "results" / "demo"


def test_the_summary_has_every_result_the_ledger_and_where_to_look(results: Path) -> None:
    text = write_report("demo")
    assert (results / "report" / "summary.txt").read_text() == text
    table = text.split("\n\n")[0].splitlines()
    assert len(table) == 2 + 3 * 2 * 2
    assert all("0.510 ± 0.014 (2)" in cells for cells in table[2:])
    assert sum("feature-only" in cells for cells in table) == 4
    for part in ("7-edge-LDP", "no protection", "no privacy", "Released", "Deployment", "make ui", "data/results/demo"):
        assert part in text


def test_results_stand_beside_the_published_figures(results: Path) -> None:
    text = write_report("demo")
    (compared,) = [x for x in text.splitlines() if x.startswith("cora base sage eps_x=1 eps_a=7:")]
    assert compared.endswith("published 0.509 ± 0.038 (table-3), difference +0.1 points")
    assert not [x for x in text.splitlines() if x.startswith("digits base") and "published" in x]
    assert "nan" not in text
    table = pd.read_csv(results / "report" / "table.csv", keep_default_na=False)
    matched = table[table["item"] != ""]
    assert set(matched["dataset"]) == {"cora"}
    assert set(matched["metric"]) == {"accuracy"}
    for values in matched.to_dict("records"):
        expected = (float(values["mean"]) - float(values["reference_mean"])) * 100
        assert float(values["difference_points"]) == pytest.approx(expected, abs=0.011)


@pytest.mark.parametrize("study", ["node_classification", "graph_classification", "node_embedding"])
def test_a_point_has_one_published_figure(study: str) -> None:
    figures = declared(study).outputs().published()
    numbers = figures.drop(columns=["item", "reference_mean", "reference_sd"]).map(as_number)
    assert not numbers.duplicated().any()


def as_number(text: str) -> str:
    try:
        return str(float(text))
    except ValueError:
        return text


def test_without_a_published_figure_it_says_so(results: Path) -> None:
    shutil.rmtree(results / STUDY / "cora")
    assert "No published figure is for these points." in write_report("demo")


def test_equal_results_give_equal_bytes(results: Path) -> None:
    def written() -> dict[str, bytes]:
        write_report("demo")
        files = [path for path in (results / "report").rglob("*") if path.is_file()]
        return {path.name: path.read_bytes() for path in files}

    first = written()
    drawn = {"accuracy", "figure-4"}
    numbers = ("table.csv", *TABLES, *EMBEDDING_TABLES, TABLE_ONE)
    files = {"report.html", "summary.txt", *numbers, *(f"{name}.png" for name in drawn)}
    assert files <= set(first)
    tables = {Path(name).stem for name in first if name.endswith(".tex")}
    assert {"published", "protection", "matrix-cora-gcn", "results-node-classification-digits", "verdicts"} <= tables
    assert {Path(name).stem for name in first if name.endswith(".csv")} == tables | {
        Path(name).stem for name in numbers
    }
    vectors = {f"{name}.{form}" for name in drawn for form in ("pdf", "svg")}
    assert set(first) == files | vectors | {f"{name}.{form}" for name in tables for form in ("csv", "tex")}
    assert first["accuracy.png"].startswith(b"\x89PNG")
    shutil.rmtree(results / "report")
    assert written() == first


def test_without_results_it_is_one_line(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--profile", "paper"]) == 2
    assert capsys.readouterr().err == (
        f"error: no results below {workspace / 'data/results/paper'}; run `dvc repro` first\n"
    )
    assert not (workspace / "data").exists()


def test_a_damaged_result_is_one_line(results: Path) -> None:
    (results / STUDY / "cora" / "rows.json").write_text(json.dumps([{"study": STUDY}]))
    with pytest.raises(UserError, match=r"rows\.json: not an array of rows"):
        write_report("demo")


@pytest.mark.parametrize(
    ("study", "dataset", "method", "settings", "metric"),
    [
        ("node_embedding", "digits", "deepwalk", {"mode": "deepwalk", "walks": "5"} | SCORED, "micro_f1"),
        ("graph_classification", "mutag", "svm-gw", CLEAN, "accuracy"),
        ("ego_clustering", "digits-1-hop", "gw-k-means", CLEAN, "accuracy"),
    ],
)
def test_one_study_alone_has_a_report(
    workspace: Path, study: str, dataset: str, method: str, settings: dict[str, str], metric: str
) -> None:
    folder = workspace / "data" / "results" / "demo" / study / dataset
    write_rows(folder / "rows.json", [Row(study, dataset, method, settings, repeat, metric, 0.5) for repeat in (0, 1)])
    (folder / "ledger.md").write_text(ledger_markdown(edge_ledger(dataset)))
    (folder / "ledger.json").write_text(ledgers_json({"": edge_ledger(dataset)}))
    assert method in write_report("demo")
    assert method in (folder.parent.parent / "report" / "report.html").read_text()


@pytest.mark.parametrize("profile", ["demo", "paper"])
@pytest.mark.parametrize("eps_a", [["7"], ["inf"]])
def test_every_output_that_the_stage_declares_exists_whatever_the_grid(
    results: Path, profile: str, eps_a: list[str]
) -> None:
    """DVC fails a stage without one of its outputs; a grid of one point suffices for few figures."""
    below = results.parent / profile
    if profile != "demo":
        shutil.copytree(results, below)
    for file in below.glob("*/*/rows.json"):
        write_rows(file, [row for row in read_rows(file) if row.settings["eps_a"] in eps_a])
    for study in ("node_embedding", "graph_classification", *(["ego_clustering"] if profile == "paper" else [])):
        (below / study).mkdir()
    write_report(profile)
    pipeline = "dvc.yaml" if profile == "demo" else "paper/dvc.yaml"
    stage = yaml.safe_load((PACKAGE_ROOT / pipeline).read_text())["stages"]["report"]
    for output in (*stage["outs"], *stage["plots"]):
        assert (results.parents[2] / output).exists(), output
