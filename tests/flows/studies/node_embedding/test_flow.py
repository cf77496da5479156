from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mlflow import MlflowClient

from flows.context.coverage import check_coverage
from flows.context.request import StudyRequest
from flows.context.study import Outcome
from flows.run.command_line import main
from flows.studies.registry import declared
from flows.studies.requests import read_request
from tasks.errors import UserError
from tasks.evaluation.tables.rows import Row
from tasks.reports.ledgers.budget import cost_to_a_user
from tasks.reports.ledgers.ledger import Ledger
from tasks.steps.node_embedding.embed import embed

STUDY = "node_embedding"
F1 = {"micro_f1", "macro_f1"}
LEAK = {"edge_precision", "edge_recall", "edge_base_rate", "edge_degree_recall"}
TRAFFIC = {"messages_per_walk", "expected_messages", "bytes_per_walk"}
MODES = ["deepwalk", "walk", "walk-random-tree", "walk-paper-tree", "release-once", "randomized-response"]
TINY = {"walks": [1], "length": 8, "dimensions": 4, "window": 2, "train_ratios": [0.5], "splits": 1, "modes": MODES}
REPEATS = 2
# Of a repeat: degrees, counts, matrices and three trees; then walks (and, over lists, the lists) and vectors and
# scores in all six modes, what was recovered in five of them, and what degrees alone tell.
POINTS = REPEATS * (6 + (6 + 2) + 6 + 6 + 5 + 1)
# Of a private graph all repeats share reports and trees: of the second one these are found, and the walks of devices
# and both kinds of lists.
SHARED = 6 + 3 + 2
PADDED = "release-once (padded)"

Result = tuple[int, str, str, list[dict[str, Any]]]
Run = Callable[..., Result]
Declare = Callable[..., None]


@pytest.fixture
def run(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """run("--dataset", "friends", p=[0, 0.2]): status, standard output and error, rows."""

    def command(*arguments: str, **changes: Any) -> Result:
        file = tmp_path / "rows.json"
        file.unlink(missing_ok=True)
        grid = [f"--set={STUDY}.{name}={json.dumps(value)}" for name, value in {**TINY, **changes}.items()]
        status = main(STUDY, ["--plain", "--json", str(file), *grid, *arguments])
        out, err = capsys.readouterr()
        return status, out, err, json.loads(file.read_text()) if file.exists() else []

    return command


def counts(err: str) -> tuple[int, int]:
    """Points computed, points found."""
    computed, found = re.findall(r"(\d+) points computed, (\d+) found in the store", err)[-1]
    return int(computed), int(found)


def computed(err: str) -> set[str]:
    """First words of the points that were computed."""
    return {name.split()[0] for name in re.findall(r"^computed in [\d.]+ s: (.*)$", err, re.MULTILINE)}


def test_digits_needs_no_network_and_its_walks_give_the_edges_away(run: Run) -> None:
    """The demo's data, with walks as the paper has them but for their number."""
    status, out, _, rows = run("--dataset", "digits", "--set", "repeats=1", modes=["walk"], walks=[3], length=40)
    assert status == 0
    settings = {"mode": "walk", "eps_encoder": "2", "p": "0.2", "k": "7", "walks": "3", "train_ratio": "0.5"}
    assert [row["settings"] for row in rows[:1]] == [{**settings, "scoring": "threshold"}]
    found = {row["metric"]: row["value"] for row in rows}
    assert found["edge_recall"] > 0.9
    assert found["edge_base_rate"] < 0.01
    assert found["messages_per_walk"] == pytest.approx(found["expected_messages"], rel=0.005)
    share = f"{found['edge_recall']:.1%} at eps_encoder 2 (a blind guess hits with 0.76%)"
    assert f"Mode walk on digits: of the edges, the uploads give away {share}" in out
    assert f"{found['edge_recall']:.3f} (1)" in out.splitlines()[2]


def test_every_mode_has_the_agreed_rows_and_a_second_run_computes_nothing(run: Run, declare: Declare) -> None:
    declare(private=False)
    status, _, err, rows = run("--dataset", "friends")
    assert (status, counts(err)) == (0, (POINTS, 0))
    metrics: dict[str, set[str]] = {}
    for row in rows:
        assert list(row) == ["study", "dataset", "method", "settings", "repeat", "metric", "value"]
        settings = row["settings"]
        mode = settings["mode"]
        metrics.setdefault(mode, set()).add(row["metric"])
        assert (settings["walks"], settings["train_ratio"]) == ("1", "0.5")
        assert settings["scoring"] in ("top_k", "threshold")
        assert row["method"] == (mode if mode in ("deepwalk", "randomized-response") else "fedwalk")
        assert settings.get("eps_encoder") == (None if mode == "deepwalk" else "2")
        assert settings.get("p") == ("0.2" if mode.startswith("walk") else None)
        # floor(ln 90)
        assert settings.get("k") == ("4" if mode in ("walk", "walk-paper-tree", "release-once") else None)
    walks = F1 | LEAK | TRAFFIC
    assert metrics == {
        "deepwalk": F1,
        "walk": walks,
        "walk-random-tree": walks,
        "walk-paper-tree": walks,
        "release-once": F1 | LEAK,
        "randomized-response": F1 | LEAK,
    }
    assert len(rows) == REPEATS * 2 * sum(len(found) for found in metrics.values())
    _, _, again, same = run("--dataset", "friends")
    assert (counts(again), same) == ((0, POINTS), rows)


def test_only_what_a_parameter_decides_is_computed_again(run: Run, declare: Declare) -> None:
    declare(private=False)
    friends = ("--dataset", "friends", "--set", "repeats=1")
    assert counts(run(*friends)[2]) == (POINTS // REPEATS, 0)
    assert computed(run(*friends, eps_encoder=[2, 1])[2]) == {"walk", "encode", "perturb", "recover", "embed", "score"}
    assert computed(run(*friends, p=[0.2, 0])[2]) == {"walk", "recover", "embed", "score"}
    assert computed(run(*friends, dimensions=5)[2]) == {"embed", "score"}
    assert computed(run(*friends, train_ratios=[0.6])[2]) == {"score"}
    _, _, _, rows = run(*friends, bins=[3, 5], modes=["walk", "walk-random-tree"])
    assert {row["settings"].get("k") for row in rows} == {"3", "5", None}


def test_a_part_adds_lines_with_repeats_of_its_own(run: Run, declare: Declare) -> None:
    declare(private=False)
    parts = [
        {"modes": ["release-once"], "pad": False, "repeats": 1},
        {"datasets": ["digits"], "modes": ["walk"], "p": [0]},
        {"modes": ["walk"], "bins": [4, 5], "repeats": 1},
    ]
    status, _, _, rows = run("--dataset", "friends", modes=["walk", "release-once"], parts=parts)
    assert status == 0
    lines: dict[tuple[str, str, str], set[int]] = {}
    for row in rows:
        settings = row["settings"]
        assert settings.get("p") != "0"
        lines.setdefault((settings["mode"], settings["k"], settings.get("pad", "")), set()).add(row["repeat"])
    # floor(ln 90) = 4 is a number of bins by another name: one line, not two.
    assert lines == {
        ("walk", "4", ""): {0, 1},
        ("release-once", "4", "true"): {0, 1},
        ("release-once", "4", ""): {0},
        ("walk", "5", ""): {0},
    }
    again = run("--dataset", "friends", modes=["walk", "release-once"], parts=parts)
    assert (counts(again[2])[0], again[3]) == (0, rows)

    grid = {**TINY, "modes": ["walk", "release-once"], "parts": parts}
    overrides = [f"{STUDY}.{name}={json.dumps(value)}" for name, value in grid.items()]
    profile = read_request(StudyRequest(overrides=overrides)).demo
    check_coverage([Row(**row) for row in rows], declared(STUDY), profile)
    with pytest.raises(UserError, match=r"mode=walk .* has no row"):
        check_coverage([Row(**row) for row in rows if row["settings"].get("k") != "5"], declared(STUDY), profile)


def test_padded_lists_hide_the_degree_and_the_ledger_says_which(run: Run, declare: Declare) -> None:
    declare(private=False)
    chosen: dict[str, Any] = {"modes": ["release-once"], "pad": False, "parts": [{"pad": True}]}
    _, out, _, _ = run("--dataset", "friends", "--set", "repeats=1", **chosen)
    exact, padded = out.split("Mode release-once on friends")[1].split("Mode release-once (padded) on friends")
    assert "the exact degree is sent in clear" in exact
    assert "no eps_degree is charged for it" in exact
    assert "the exact degree" not in padded
    assert "the published noisy degree, which eps_degree has paid for" in padded


def test_labels_change_the_scores_and_nothing_else(run: Run, declare: Declare, workspace: Path) -> None:
    declare(private=False)
    _, _, _, before = run("--dataset", "friends")
    file = workspace / "labels.csv"
    head, *lines = file.read_text().split()
    nodes, names = zip(*(line.split(",") for line in lines), strict=True)
    shuffled = np.random.default_rng(0).permutation(names)
    file.write_text("\n".join([head, *(f"{node},{name}" for node, name in zip(nodes, shuffled, strict=True))]))
    _, _, _, after = run("--dataset", "friends")

    def values(rows: list[dict[str, Any]], scores: bool) -> list[dict[str, Any]]:
        return [row for row in rows if (row["metric"] in F1) == scores]

    assert values(after, scores=False) == values(before, scores=False)
    assert values(after, scores=True) != values(before, scores=True)


def test_a_private_graph_is_scored_and_its_edges_are_never_compared(run: Run, declare: Declare, tmp_path: Path) -> None:
    declare("secrets")
    status, out, err, rows = run("--dataset", "secrets", "--set", "seed=null")
    assert (status, counts(err)) == (0, (POINTS - 6 * REPEATS - SHARED, SHARED))
    # Of messages the formula alone: their count tells how many devices have one neighbour.
    assert {row["metric"] for row in rows} == F1 | {"expected_messages"}
    assert "what the uploads give away is not measured on a private graph" in out
    assert "1-LDP" in out
    assert "noise reproducible from the seed" not in out
    assert list((tmp_path / "store/points").glob("*/recovery.json")) == []
    assert counts(run("--dataset", "secrets", "--set", "seed=null")[2]) == (0, POINTS - 6 * REPEATS)
    assert run("--dataset", "secrets", "--export")[0] == 2


def test_every_mode_has_its_ledger_and_totals_add_up(
    run: Run, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(private=False)
    found: list[Outcome] = []
    monkeypatch.setattr("flows.run.run_study.console_table", lambda table, headlines: "")
    finish = "flows.tracking.mlflow_log.Tracker.finish"
    monkeypatch.setattr(finish, lambda self, outcome: found.append(outcome))
    run("--dataset", "friends", "--set", "repeats=1", eps_degree=0.5, eps_counts=1.5, eps_encoder=[1, 3])
    ledgers = {title.split(" on ")[0].removeprefix("Mode "): ledger for title, ledger in found[0].ledgers.items()}
    assert list(ledgers) == [PADDED if mode == "release-once" else mode for mode in MODES]

    def costs(mode: str) -> list[tuple[str, str]]:
        return [
            (cost_to_a_user(total.spent), total.spent["relation"]) for _, total in ledgers[mode].deployments("friends")
        ]

    # A walk has no guarantee, of a relation least of all; DeepWalk reads the graph.
    assert (
        costs("deepwalk") == costs("walk") == costs("walk-random-tree") == costs("walk-paper-tree") == [("inf", "inf")]
    )
    assert costs("randomized-response") == [("1", "2"), ("3", "6")]
    lists = [line for line in ledgers[PADDED].lines if line.deployment_key == "encoded lists"]
    assert costs(PADDED) == [(str(2 + Decimal(line.epsilon)), str(4 + 2 * Decimal(line.epsilon))) for line in lists]
    # Degrees and counts serve two modes and are drawn, and paid, once.
    everything = {line for ledger in ledgers.values() for line in ledger.lines}
    assert found[0].ledger == Ledger(tuple(everything))
    shared = [line for line in everything if line.deployment_key in ("degree", "counts")]
    assert sorted(line.epsilon for line in shared) == ["0.5", "1.5"]
    assert all(line in ledgers[mode].lines for line in shared for mode in ("walk", PADDED))
    released = found[0].ledger.released("friends", noisy_only=True)
    assert Decimal(released.spent["edge"]) == 2 + 1 + 3 + sum(Decimal(line.epsilon) for line in lists)


def test_an_export_keeps_reports_apart_from_results(
    run: Run, declare: Declare, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(private=False)
    _, _, _, rows = run("--dataset", "friends", "--export")
    noisy = workspace / "data/noisy/demo" / STUDY / "friends"
    results = workspace / "data/results/demo" / STUDY / "friends"
    assert len(list(noisy.iterdir())) == REPEATS * (3 + 5)
    assert len(list((results / "points").iterdir())) == POINTS - REPEATS * (3 + 5)
    assert not list((results / "points").glob("*/report.*"))
    ledgers = json.loads((results / "ledger.json").read_text())
    assert {line["mechanism"] for lines in ledgers.values() for line in lines} >= {
        "noisy degree (discrete Laplace)",
        "randomised response (directed-no-diagonal)",
    }
    assert "Mode release-once (padded) on friends: of the edges" in (results / "ledger.md").read_text()
    metrics = json.loads((results / "metrics.json").read_text())
    assert set(metrics["deepwalk mode=deepwalk scoring=top_k train_ratio=0.5 walks=1"]) == F1

    monkeypatch.setenv("POINT_STORE", str(tmp_path / "empty store"))
    _, _, err, again = run("--dataset", "friends")
    assert (counts(err), again) == ((0, POINTS), rows)


def test_runs_are_comparable_in_mlflow(run: Run, declare: Declare) -> None:
    declare(private=False)
    run("--dataset", "friends", "--set", "seed=78", modes=["deepwalk", "walk"])
    client = MlflowClient(os.environ["MLFLOW_TRACKING_URI"])
    (experiment,) = [x for x in client.search_experiments() if x.name == STUDY]
    tagged = [x for x in client.search_runs([experiment.experiment_id]) if "mlflow.parentRunId" in x.data.tags]
    newest = max(tagged, key=lambda x: x.info.start_time).data.tags["mlflow.parentRunId"]
    children = [x for x in tagged if x.data.tags["mlflow.parentRunId"] == newest]
    assert sorted((x.data.params["mode"], x.data.params["scoring"]) for x in children) == [
        (mode, scoring) for mode in ("deepwalk", "walk") for scoring in ("threshold", "top_k")
    ]
    for child in children:
        walks = child.data.params["mode"] == "walk"
        assert set(child.data.metrics) >= (F1 | LEAK | TRAFFIC if walks else F1)
        assert child.data.params["train_ratio"] == "0.5"
    kept = {"table.txt", "table.csv", "tables", "ledger.md", "ledger.json", "params.json", "environment.json"}
    assert {x.path for x in client.list_artifacts(newest)} == kept


def test_a_failing_point_is_reported_and_the_rest_goes_on(
    run: Run, declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(private=False)
    sound = embed.plain  # type: ignore[attr-defined]

    def failing(*args: Any, repeat: int, **kwargs: Any) -> Any:
        if repeat == 1:
            raise FloatingPointError("diverged")
        return sound(*args, repeat=repeat, **kwargs)

    monkeypatch.setattr(embed, "plain", failing)
    status, _, err, rows = run("--dataset", "friends", modes=["deepwalk"])
    assert status == 1
    assert {row["repeat"] for row in rows} == {0}
    assert "failed: embed friends deepwalk walks=1 repeat=1: FloatingPointError: diverged" in err


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"modes": ["walks"]}, f"demo.{STUDY}.modes.0: must be 'deepwalk', 'walk'"),
        ({"eps_encoder": [0]}, "use inf for no noise"),
        ({"bins": [91]}, "bins: 91 is out of range; use 1 to 90"),
        ({"bins": ["auto", 3]}, "auto is a number too, floor(ln V)"),
        ({"bins": [0.5]}, "must be auto or a whole number of 1 or more"),
        ({"train_ratios": [0.001]}, "leaves none to train or to test; take a ratio nearer to 0.5"),
        ({"walks": [True]}, f"demo.{STUDY}.walks.0"),
        ({"p": [1]}, f"demo.{STUDY}.p.0"),
        ({"length": 2}, f"demo.{STUDY}.length"),
        ({"memory_limit_mb": 1, "datasets": ["digits"], "eps_encoder": [0.01]}, "memory_limit_mb"),
    ],
    ids=str,
)
def test_a_mistake_is_one_line(run: Run, declare: Declare, changes: dict[str, Any], says: str) -> None:
    declare(private=False)
    chosen = {"datasets": ["friends"], "modes": ["walk", "randomized-response"], **changes}
    status, out, err, rows = run("--set", "repeats=1", **chosen)
    assert (status, out, rows) == (2, "", [])
    (mistake,) = [line for line in err.splitlines() if not line.startswith("computed in ")]
    assert says in mistake


def test_a_set_of_graphs_has_no_walks(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    main("download", ["--plain", "--dataset", "mutag"])
    capsys.readouterr()
    status, _, err, _ = run("--dataset", "mutag")
    assert status == 2
    assert "mutag is a set of graphs; node embedding needs one graph" in err


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"modes": ["walk"], "budget": 1000},
            "friends walk: one deployment costs a user inf (counts 1 + degree 1",
        ),
        ({"modes": ["deepwalk"], "budget": 1000}, "friends deepwalk: one deployment costs a user inf"),
        ({"modes": ["randomized-response"], "budget": 1.9}, "one deployment costs a user 2 (edges 2)"),
        ({"modes": ["release-once"], "budget": 1.9}, "one deployment costs a user 2 (counts 1 + degree 1)"),
    ],
)
def test_a_declared_budget_is_checked_before_anything_is_drawn(
    run: Run, declare: Declare, tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    declare(private=False)
    status, _, err, _ = run("--dataset", "friends", **changes)
    assert (status, says in err) == (2, True)
    assert not list((tmp_path / "store/points").glob("*/report*"))


def test_encoded_lists_are_checked_against_the_budget_before_they_are_drawn(
    run: Run, declare: Declare, tmp_path: Path
) -> None:
    declare(private=False)
    chosen: dict[str, Any] = {"modes": ["release-once"], "budget": 3}
    status, _, err, _ = run("--dataset", "friends", "--set", "repeats=1", **chosen)
    assert status == 2
    cost = re.search(r"friends release-once: one deployment costs a user ([\d.]+) .*encoded lists ([\d.]+)\)", err)
    assert cost is not None and Decimal(cost[1]) == Decimal(cost[2]) + 2
    drawn = [path.parent for path in (tmp_path / "store/points").glob("*/ledger.json")]
    assert len(drawn) == 2  # degrees and counts
    assert run("--dataset", "friends", "--set", "repeats=1", **{**chosen, "budget": float(cost[1])})[0] == 0
