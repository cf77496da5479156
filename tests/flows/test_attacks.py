from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.attacks import main
from tasks.evaluation.attacks.informed_edges import READINGS
from tests.flows.conftest import write_parameters

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(workspace: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        out, err = capsys.readouterr()
        return status, out, err

    return command


def rows(file: Path, **chosen: str) -> dict[tuple[str, str, str], float]:
    """Values by (method, reading, eps_a) of the rows with these settings."""
    found: list[dict[str, Any]] = json.loads(file.read_text())
    return {
        (row["method"], row["settings"]["reading"], row["settings"].get("eps_a", "")): row["value"]
        for row in found
        if all({**row, **row["settings"]}.get(name) == value for name, value in chosen.items())
    }


def test_every_attack_is_in_the_table(run: Run, declare: Callable[..., None], workspace: Path, tmp_path: Path) -> None:
    declare(private=False)
    file = tmp_path / "rows.json"
    status, out, err = run("--dataset", "friends", "--eps-a", "2", "inf", "--repeats", "1", "--json", str(file))
    assert status == 0, err
    edges = rows(file, attack="edges", metric="auc")
    assert {reading for _, reading, _ in edges} == {"one list", "both lists", "mutual", "bayes"}
    assert {value for (*_, eps_a), value in edges.items() if eps_a == "inf"} == {1.0}
    assert all(0.5 < value < 1 for (*_, eps_a), value in edges.items() if eps_a == "2")
    for attack in ("edges with labels", "edges of all repeats"):
        informed = rows(file, attack=attack, metric="precision")
        assert {reading for _, reading, _ in informed} == set(READINGS)
        assert informed["reports", "bits", "inf"] == informed["reports", "bits, classes and degrees", "inf"] == 1.0
    methods = {"base", "mutual", "bayes-soft"}
    assert {method for method, *_ in rows(file, attack="links")} == methods
    assert set(rows(file, metric="accuracy")) == {(m, "predictions", e) for m in methods for e in ("2", "inf")}
    assert rows(file, attack="attributes", eps_x="inf") == {("reports", "all features", ""): 1.0}
    assert {reading for _, reading, _ in rows(file, attack="attributes")} >= {"noisy graph", "mutual"}
    assert rows(file, attack="control")
    assert out.splitlines()[1].split()[0] == "2"
    folder = workspace / "data/results/attacks"
    assert {path.name for path in folder.iterdir()} == {"friends.csv", "friends.json", "friends.png"}
    record = json.loads((folder / "friends.json").read_text())
    assert set(record) == {"data", "seed", "settings", "seconds", "commit", "date", "machine", "versions"}
    assert record["settings"].items() >= {"eps_a": ["2", "inf"], "repeats": 1, "eps_x": "1", "backbone": "sage"}.items()

    again = tmp_path / "again.json"
    assert run("--dataset", "friends", "--eps-a", "inf", "2", "--repeats", "1", "--json", str(again))[0] == 0
    assert again.read_bytes() == file.read_bytes()


def test_the_reports_of_all_repeats_are_attacked_together(
    run: Run, declare: Callable[..., None], tmp_path: Path
) -> None:
    declare(private=False)
    file = tmp_path / "rows.json"
    assert run("--dataset", "friends", "--eps-a", "1.5", "--repeats", "3", "--json", str(file))[0] == 0
    found: list[dict[str, Any]] = json.loads(file.read_text())
    values: dict[str, list[float]] = {}
    for row in found:
        if row["settings"]["reading"] == "bits" and row["metric"] == "auc":
            values.setdefault(row["settings"]["attack"], []).append(row["value"])
    assert {attack: len(each) for attack, each in values.items()} == dict.fromkeys(values, 3)
    assert min(values["edges of all repeats"]) > max(values["edges with labels"])


def test_what_walks_give_away_is_taken_from_their_own_study(workspace: Path) -> None:
    from flows.attack_runs.outputs import WALKS, walk_rows

    assert walk_rows(workspace) == []
    file = workspace / WALKS
    file.parent.mkdir(parents=True)
    title = "fedwalk eps_encoder=2 k=7 mode=walk p=0.2 scoring={} train_ratio=0.5 walks=5"
    measured = {"edge_base_rate": 0.01, "edge_recall": 0.75, "micro_f1": 0.5}
    others = {"deepwalk mode=deepwalk scoring=top_k": {"micro_f1": 0.9}}
    file.write_text(json.dumps({title.format("top_k"): measured, title.format("threshold"): measured, **others}))
    found = walk_rows(workspace)
    assert {(row.metric, row.value) for row in found} == {("edge_recall", 0.75), ("edge_base_rate", 0.01)}
    assert {(row.settings["reading"], row.settings["eps_encoder"]) for row in found} == {("walk", "2")}


MISTAKES = [
    (["--dataset", "secrets"], "data set 'secrets' is private: attacks are measured against the truth"),
    (["--dataset", "corra"], "data set 'corra' is unknown; choose from"),
    (["--eps-a", "0"], "use inf for no noise"),
    (["--eps-a", "x"], "eps_a"),
    (["--eps-a", "7", "7.0"], "names a budget twice"),
    (["--repeats", "0"], "--repeats 0: use at least 1"),
]


@pytest.mark.parametrize(("arguments", "says"), MISTAKES, ids=lambda x: str(x)[:40])
def test_a_mistake_is_one_line(run: Run, workspace: Path, arguments: list[str], says: str) -> None:
    files = {part: f"{part}.csv" for part in ("edges", "features", "labels")}
    write_parameters(workspace, {"secrets": {**files, "feature_bounds": [0, 1]}})
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert says in err
    assert not (workspace / "data").exists()


PLACES = [
    ("--figure", "file/x.png", "is a file, no folder"),
    ("--figure", "x.odd", "name a .png file"),
    ("--csv", ".", "is a folder; name a file"),
    ("--json", "file/x.json", "is a file, no folder"),
    ("--json", "table.json", "is where the record of --csv goes; name another file"),
]


@pytest.mark.parametrize(("option", "place", "says"), PLACES)
def test_a_bad_place_is_refused_before_anything_is_attacked(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: str, place: str, says: str
) -> None:
    monkeypatch.setattr("flows.attack_runs.table.measure", lambda *_: pytest.fail("work was done"))
    (tmp_path / "file").touch()
    given = ["--csv", str(tmp_path / "table.csv")] if option == "--json" else []
    status, out, err = run("--dataset", "digits", *given, option, str(tmp_path / place))
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(f"error: {option} {tmp_path / place}")
    assert says in err


def test_a_set_of_graphs_has_no_budget_of_lists(run: Run) -> None:
    status, out, err = run("--dataset", "mutag", "--eps-a", "7")
    assert (status, out) == (2, "")
    assert err == (
        "error: --eps-a is the budget of a neighbour list, and mutag is a set of graphs, which is attacked at eps 1/n,"
        " 1, 10, 100, 1000, inf; leave it out\n"
    )
