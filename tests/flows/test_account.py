"""The account through whole runs: what is asked for again, was lost, or needs other code is never drawn for free."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flows import account
from flows.run.command_line import main
from tasks.reports.edge import EdgeReport
from tasks.steps.report_point import ChargedDeclaration

STUDY = "node_classification"
SMALL = ("seed=null", f'{STUDY}.methods=["label-propagation"]')
Run = Callable[..., tuple[int, str, str]]
Declare = Callable[..., None]


@pytest.fixture
def run(workspace: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """run("1", repeats=60): lists at eps_a 1 of the private graph; status, output, errors."""

    def command(eps_a: str, *options: str, repeats: int = 1) -> tuple[int, str, str]:
        grid = (*SMALL, f"{STUDY}.eps_a=[{eps_a}]", f"repeats={repeats}")
        status = main(STUDY, ["--plain", "--dataset", "friends", *(f"--set={item}" for item in grid), *options])
        out, err = capsys.readouterr()
        return status, out, err

    return command


def rows(workspace: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    place = workspace / "account.json"
    assert account.main([*arguments, "--json", str(place)]) == 0
    capsys.readouterr()
    assert place.stat().st_mode & 0o077 == 0
    found: list[dict[str, Any]] = json.loads(place.read_text())
    return found


def totals(found: list[dict[str, Any]]) -> dict[str, float]:
    units = {row["unit"] for row in found}
    return {unit: sum(float(row["total"]) for row in found if row["unit"] == unit) for unit in units}


def edge_reports(workspace: Path) -> list[EdgeReport]:
    points = (workspace / "edges.csv.account/points").iterdir()
    kinds = {point: json.loads((point / "ledger.json").read_text())[0]["deployment_key"] for point in points}
    return [EdgeReport.load(point / "report.npz") for point, kind in kinds.items() if kind == "edges"]


def test_sixty_repeats_share_one_draw(
    run: Run, declare: Declare, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(budget=2)
    assert run("1", repeats=60)[0] == 0
    assert len(edge_reports(workspace)) == 1
    found = rows(workspace, capsys, "friends")
    assert {k: v for k, v in totals(found).items() if k != "labels"} == {
        "edge": 1, "features": 1, "relation": 2, "replacement": 2
    }  # fmt: skip
    assert {row["limit"] for row in found if row["unit"] == "edge"} == {"2"}


def test_fresh_noise_for_every_repeat_is_asked_for_by_name_and_paid(
    run: Run, declare: Declare, workspace: Path, tmp_path: Path
) -> None:
    declare(budget=2, fresh_noise=True)
    status, _, err = run("1", repeats=60)
    assert (status, "60 for one edge" in err or "60 for one features" in err) == (2, True)
    assert not (workspace / "edges.csv.account").exists()
    declare(fresh_noise=True)
    assert run("1", repeats=3)[0] == 0
    lists = {report.indices.tobytes() for report in edge_reports(workspace)}
    assert len(lists) == 3


def test_three_runs_cannot_spend_more_than_the_budget_of_a_life(
    run: Run, declare: Declare, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(budget=3)
    assert run("2")[0] == 0
    for more in ("1.9", "1.8"):
        status, _, err = run(more)
        assert status == 2
        line = err.splitlines()[-1]
        assert f"eps_a={more}" in line and "2 of its lifetime budget 3" in line
    assert totals(rows(workspace, capsys))["edge"] == 2
    assert run("1")[0] == 0
    assert totals(rows(workspace, capsys))["edge"] == 3
    assert run("2")[0] == 0  # drawn before


def test_a_flipped_bit_is_refused_until_it_is_mended_or_paid(
    run: Run, declare: Declare, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare()
    run("1")
    (ledger,) = [
        path for path in (workspace / "edges.csv.account/points").glob("*/ledger.json") if "eps_a" in path.read_text()
        or '"edges"' in path.read_text()
    ]  # fmt: skip
    report = ledger.with_name("report.npz")
    whole = report.read_bytes()
    report.write_bytes(whole[:50] + bytes([whole[50] ^ 1]) + whole[51:])
    status, _, err = run("1")
    assert (status, "--draw-again" in err, str(report.parent) in err) == (2, True, True)
    assert totals(rows(workspace, capsys))["edge"] == 1
    assert run("1", "--draw-again")[0] == 0
    assert totals(rows(workspace, capsys))["edge"] == 2
    assert run("1")[0] == 0


@pytest.mark.parametrize("change", ["another version of the code", "another store", "make clean"])
def test_a_report_outlives_code_and_stores(
    run: Run,
    declare: Declare,
    workspace: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: str,
) -> None:
    declare(budget=1)
    run("1")
    before = {report.digest() for report in edge_reports(workspace)}
    if change == "another store":
        monkeypatch.setenv("POINT_STORE", str(tmp_path / "elsewhere"))
    elif change == "make clean":
        shutil.rmtree(tmp_path / "store")
    else:
        monkeypatch.setattr(ChargedDeclaration, "_code", lambda self, of: "another")
    status, out, err = run("1")
    assert status == 0
    assert {report.digest() for report in edge_reports(workspace)} == before
    assert totals(rows(workspace, capsys))["edge"] == 1
    assert re.search(r"friends: over all runs .*1 for one edge \(limit 1\)", out)
    assert ("by version" in err) == (change == "another version of the code")


def test_without_a_limit_each_run_says_so(run: Run, declare: Declare) -> None:
    declare()
    _, out, _ = run("1")
    assert "no lifetime budget is declared" in out


def test_a_seed_is_refused_where_there_is_a_budget(run: Run, declare: Declare, workspace: Path) -> None:
    declare(budget=100)
    status, _, err = run("1", "--set=seed=0")
    assert (status, "seed=null" in err) == (2, True)
    assert not (workspace / "edges.csv.account").exists()


def test_what_no_limit_can_hold_is_refused_before_anything_is_drawn(
    run: Run, declare: Declare, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(budget=100)
    for study, setting in (
        (STUDY, f'{STUDY}.methods=["non-private"]'),
        ("node_embedding", 'node_embedding.modes=["walk"]'),
        ("node_embedding", 'node_embedding.modes=["deepwalk"]'),
        ("ego_clustering", "repeats=1"),
    ):
        assert main(study, ["--plain", "--dataset", "friends", "--set", "seed=null", setting]) == 2
        assert "inf" in capsys.readouterr().err
    assert not (workspace / "edges.csv.account").exists()


def test_unpadded_lists_have_no_budget_and_padded_ones_the_sum(
    run: Run, declare: Declare, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = {"walks": [1], "length": 6, "dimensions": 4, "window": 2, "splits": 1, "eps_encoder": [0.4]}
    grid = [f"node_embedding.{name}={json.dumps(value)}" for name, value in small.items()]
    costs = ["node_embedding.eps_degree=0.1", "node_embedding.eps_counts=2"]
    lists = ['node_embedding.modes=["release-once"]', *grid, *costs, "seed=null", "repeats=2"]
    declare(budget=100)
    command = ["--plain", "--dataset", "friends", *(f"--set={item}" for item in lists)]
    assert main("node_embedding", [*command, "--set=node_embedding.pad=false"]) == 2
    assert "inf for one edge" in capsys.readouterr().err
    assert not (workspace / "edges.csv.account").exists()
    assert main("node_embedding", command) == 0
    found = rows(workspace, capsys, "friends")
    encoded = next(float(row["epsilon"]) for row in found if "encoded" in row["mechanism"] and row["unit"] == "edge")
    assert totals(found)["edge"] == pytest.approx(0.1 + 2 + encoded)
    # A replaced neighbour moves two counts and one entry, and leaves the degree.
    assert totals(found)["replacement"] == pytest.approx(4 + encoded)
    assert totals(found)["relation"] == pytest.approx(2 * (0.1 + 2 + encoded))


def test_scores_can_be_left_out_and_are_named_where_they_are_not(
    run: Run, declare: Declare, workspace: Path, tmp_path: Path
) -> None:
    declare()
    _, out, _ = run("1")
    assert "scores are exact functions of the test labels" in out and "accuracy" in out
    declare(scores=False)
    place = tmp_path / "rows.json"
    status, out, _ = run("2", "--json", str(place))
    assert (status, json.loads(place.read_text()), "accuracy" in out) == (0, [], False)


def test_the_command_names_what_it_does_not_know(
    declare: Declare, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare()
    assert account.main(["strangers"]) == 2
    assert "friends" in capsys.readouterr().err
    assert account.main([]) == 0
    assert "friends: over all runs nothing was released" in capsys.readouterr().out
    (workspace / "edges.csv.account").mkdir()
    (workspace / "edges.csv.account/account.jsonl").write_text("{}\n")
    assert account.main(["friends"]) == 2
    assert "account.jsonl: line 1" in capsys.readouterr().err


def test_a_majority_vote_over_all_that_was_released_knows_no_more_than_one_report(
    run: Run, declare: Declare, workspace: Path
) -> None:
    declare(budget=2)
    run("1", repeats=9)
    (report,) = edge_reports(workspace)
    edges = np.loadtxt(workspace / "edges.csv", delimiter=",", dtype=int, skiprows=1)
    said = np.zeros((report.nodes, report.nodes), dtype=bool)
    said[np.repeat(np.arange(report.nodes), np.diff(report.indptr)), report.indices] = True
    wrong = 1 - said[edges[:, 0], edges[:, 1]].mean()
    assert wrong > 0.1  # a bit is turned with probability 1 / (1 + e)
