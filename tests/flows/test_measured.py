from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flows.measured import main
from tasks.datasets.catalogue.manifest import manifest
from tasks.evaluation.graph_classification.ego_figures import map_rows
from tasks.evaluation.node_classification.solitude_tables import TABLES
from tasks.evaluation.tables.rows import Row, write_rows
from tasks.evaluation.tables.summary import write_csv

STUDY = "node_classification"
GRID = [
    "--profile=demo",
    *(f"--set={STUDY}.{name}" for name in ("eps_a=[7, 7.5, 8]", 'methods=["base"]', 'backbones=["gcn"]')),
]


def rows(eps_a: str, study: str = STUDY) -> list[Row]:
    settings = {"backbone": "gcn", "eps_x": "1", "eps_a": eps_a, "mode": "directed", "label_rate": "0.5"}
    return [Row(study, "cora", "base", settings, repeat, "accuracy", value) for repeat, value in enumerate((0.6, 0.62))]


@pytest.fixture
def files(workspace: Path, tmp_path: Path) -> list[str]:
    """Two runs' rows; what both measured is in both."""
    write_rows(tmp_path / "one.json", rows("7") + rows("8"))
    write_rows(tmp_path / "two.json", rows("8") + rows("7.5"))
    return [str(tmp_path / "one.json"), str(tmp_path / "two.json")]


def test_runs_are_joined_and_say_where_they_came_from(files: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    assert main([str(folder), *files, *GRID, "--minutes", "12"]) == 0
    assert {path.name for path in folder.iterdir()} == {"table.csv", "provenance.json", "figure-4.png", *TABLES}
    table = pd.read_csv(folder / "table.csv")
    assert sorted(table["eps_a"]) == [7, 7.5, 8]
    assert set(table["item"]) == {"table-3"}
    record = json.loads((folder / "provenance.json").read_text())
    assert (record["study"], record["minutes"], record["parameters"]["repeats"]) == (STUDY, 12, 2)
    assert record["parameters"][STUDY]["eps_a"] == ["7", "7.5", "8"]
    assert record["overrides"] == [override.removeprefix("--set=") for override in GRID[1:]]
    (first, *_) = record["data"]["cora"].items()
    assert set(first[1]) == manifest()[first[0]].hashes
    assert record["parameters"][STUDY]["datasets"] == ["cora"]
    assert {"date", "commit", "machine", "versions"} == set(record["written"])


def test_results_on_a_graph_of_ones_own_are_not_kept_with_the_code(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = [Row(STUDY, "friends", *line[2:]) for line in (tuple(vars(row).values()) for row in rows("7"))]
    write_rows(tmp_path / "own.json", own)
    grid = [option for option in GRID if "eps_a" not in option]
    assert main([str(tmp_path / "kept"), str(tmp_path / "own.json"), *grid, f"--set={STUDY}.eps_a=[7]"]) == 2
    assert "'friends' is not public" in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("case", ["missing", "mixed", "contradicting"])
def test_rows_that_do_not_fit_are_refused_in_one_line(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    other = tmp_path / "other.json"
    if case == "mixed":
        write_rows(other, rows("7", study="node_embedding"))
    elif case == "contradicting":
        changed = [Row(row.study, row.dataset, row.method, row.settings, 0, row.metric, 0.1) for row in rows("7")[:1]]
        write_rows(other, changed)
    assert main([str(tmp_path / "kept"), *files, str(other), *GRID]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    says = {"missing": "cannot be read", "mixed": "rows of one study", "contradicting": "measured twice"}
    assert says[case] in line
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("eps_a=[7, 8]", "eps_a=7.5 .* is not in the grid \\(2 such lines\\)"),
        ("eps_a=[7, 7.5, 8, 9]", "eps_a=9 .* has no row \\(2 such lines\\)"),
        ("shared_choice=true", r"base \(shared choice\) .* has no row \(6 such lines\)"),
        ('parts=[{"mode": "pair"}]', "mode=pair .* has no row \\(6 such lines\\)"),
    ],
)
def test_parameters_that_are_not_those_of_the_rows_are_refused(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], override: str, says: str
) -> None:
    assert main([str(tmp_path / "kept"), *files, *GRID, "--set", f"{STUDY}.{override}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(says, line)
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("repeats", [1, 3])
def test_so_are_other_numbers_of_repeats(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], repeats: int
) -> None:
    assert main([str(tmp_path / "kept"), *files, *GRID, "--set", f"repeats={repeats}"]) == 2
    assert {1: "repeat=1 is not in the grid", 3: "repeat=2 has no row"}[repeats] in capsys.readouterr().err


def graph_rows(study: str, dataset: str, method: str, metrics: dict[str, float]) -> list[Row]:
    """The control and one method without noise, in two repeats."""
    exact = {"input": "gcn-H", "backbone": "gcn", "encoder": "none", "eps": "inf"}
    return [
        Row(study, dataset, name, settings, repeat, metric, value + repeat / 100)
        for name, settings in (("node-count", {"input": "node counts"}), (method, exact))
        for repeat in range(2)
        for metric, value in metrics.items()
    ]


def test_graphs_stand_in_the_papers_table_beside_the_control(files: list[str], tmp_path: Path) -> None:
    study, folder = "graph_classification", tmp_path / "kept"
    write_rows(tmp_path / "graphs.json", graph_rows(study, "mutag", "svm-gw", {"accuracy": 0.80, "macro_f1": 0.7}))
    grid = ['baselines=["node-count"]', 'backbones=["gcn"]', 'eps=["inf"]']
    options = [f"--set={study}.{setting}" for setting in grid]
    assert main([str(folder), str(tmp_path / "graphs.json"), "--profile=demo", *options]) == 0
    kept = {"table.csv", "provenance.json", "table-1.csv", "accuracy_by_epsilon.png"}
    assert {path.name for path in folder.iterdir()} == kept
    ours, control = pd.read_csv(folder / "table-1.csv", keep_default_na=False).to_dict("records")
    assert (control["method"], control["published"]) == ("node-count", "")
    said = [ours[name] for name in ("accuracy", "splits", "published", "within_one_sd", "over_node_count")]
    assert said == [80.5, 2, "80.3", "yes", 0.0]


def test_ego_graphs_come_with_the_maps_beside_their_rows(files: list[str], tmp_path: Path) -> None:
    study, folder, exported = "ego_clustering", tmp_path / "kept", tmp_path / "citeseer"
    scores = {"accuracy": 0.4, "ari": 0.1, "nmi": 0.2, "gw_mean": 0.3, "five_gw_mean": 0.3, "five_gw_sd": 0.1}
    write_rows(exported / "rows.json", graph_rows(study, "citeseer-1-hop", "gw-k-means", scores))
    grid = ["hops=[1]", 'eps=["inf"]']
    options = ["--profile=demo", *(f"--set={study}.{setting}" for setting in grid)]
    command = [str(folder), str(exported / "rows.json"), *options]
    figures = {f"ego_{name}_by_epsilon.png" for name in ("ari", "nmi", "accuracy", "gw")} | {"ego_five_graphs.png"}
    kept = {"table.csv", "provenance.json"} | figures
    assert main(command) == 0
    assert {path.name for path in folder.iterdir()} == kept
    ones = np.ones(2, dtype=np.int64)
    maps = map_rows("citeseer-1-hop", "none", "inf", np.zeros((2, 2), dtype=np.float32), ones, ones)
    write_csv(exported / "maps.csv", maps)
    assert main(command) == 0
    assert {path.name for path in folder.iterdir()} == kept | {"ego_maps_citeseer-1-hop_none.png"}
    record = json.loads((folder / "provenance.json").read_text())
    assert record["parameters"][study]["datasets"] == list(record["data"]) == ["citeseer"]


@pytest.mark.parametrize("minutes", ["-3", "0", "nan", "soon"])
def test_a_duration_is_above_zero(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], minutes: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path / "kept"), *files, *GRID, f"--minutes={minutes}"])
    assert "--minutes" in capsys.readouterr().err
