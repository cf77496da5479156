from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.context.project import open_store
from flows.run.command_line import main
from flows.system.environment import PACKAGE_ROOT

STUDY = "node_classification"
UNTOUCHED = ["edges.csv", "features.csv", "labels.csv", "params.yaml"]


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str, study: str = STUDY) -> str:
    """The one line that a mistake gives, beside the lines of points that were finished before it showed."""
    assert main(study, ["--plain", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line for line in err.splitlines() if not line.startswith("computed in ")]
    assert len(lines) == 1, err
    assert lines[0].startswith("error: ")
    return lines[0]


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


MISTAKES = [
    (["--set", "sede=1"], "demo.sede is not a known key"),
    (["--set", f"{STUDY}.eps=[1]"], f"demo.{STUDY}.eps is not a known key"),
    (["--set", f"{STUDY}.eps_a=[-7]"], f"demo.{STUDY}.eps_a.0: epsilon: -7 is negative"),
    (["--set", f"{STUDY}.eps_a=[0]"], "use inf for no noise"),
    (["--set", f"{STUDY}.eps_x=[1, NaN]"], f"demo.{STUDY}.eps_x.1: epsilon: NaN is not a budget"),
    (["--set", f"{STUDY}.eps_x=[inf]"], "quote strings"),
    (["--set", "seed"], "has no '='"),
    (["--set", "seed=-1"], "demo.seed"),
    (["--dataset", "corra"], "data set 'corra' is unknown; choose from digits, cora"),
    (["--dataset", "mutag"], "mutag has no single class per node"),
    (["--set", f'{STUDY}.datasets=["corra"]'], "data set 'corra' is unknown"),
    (["--profile", "test"], "profile 'test' is unknown; use one of demo, paper"),
    (["--set", f"{STUDY}.memory_limit_mb=1", "--set", f"{STUDY}.eps_a=[0.1]"], "memory_limit_mb"),
]


@pytest.mark.parametrize(("arguments", "says"), MISTAKES, ids=lambda x: str(x)[:50])
def test_a_mistake_is_one_line_and_leaves_nothing_behind(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    json = tmp_path / "rows.json"
    assert says in refusal(capsys, *arguments, "--json", str(json))
    assert not json.exists()
    assert files(workspace) == UNTOUCHED
    assert list((tmp_path / "store").glob("temporary/*")) == []
    assert list((tmp_path / "store").glob("points/*/trained.npz")) == []


@pytest.mark.parametrize("study", ["download", "perturb", STUDY, "node_embedding", "graph_classification"])
def test_every_stage_shares_the_command_line(workspace: Path, capsys: pytest.CaptureFixture[str], study: str) -> None:
    assert "demo.sede is not a known key" in refusal(capsys, "--set", "sede=1", study=study)


def test_a_store_that_cannot_be_used_is_one_line(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("POINT_STORE", str(tmp_path / "file" / "store"))
    assert "set POINT_STORE to a folder you may write" in refusal(capsys)
    assert files(workspace) == UNTOUCHED


def test_a_place_lost_while_the_study_ran_is_one_line_at_the_end_and_nothing_else_is_lost(
    workspace: Path,
    declare: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    declare(private=False)
    (tmp_path / "file").touch()
    monkeypatch.setattr("flows.run.command_line.check_places", lambda places: None)
    arguments = ["--plain", "--dataset", "friends", "--json"]
    assert main(STUDY, [*arguments, str(tmp_path / "file" / "rows.json")]) == 2
    assert "cannot be written" in capsys.readouterr().err.splitlines()[-1]
    assert main(STUDY, [*arguments, str(tmp_path / "rows.json")]) == 0
    assert "0 points computed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"edges": "nowhere.csv"}, "nowhere.csv: cannot be read"),
        ({"edges": "."}, "unknown kind of file"),
        ({"nodes": 10}, "a node id is not below the number of nodes"),
        ({"feature_bounds": [0, 0.5]}, "outside the declared bounds"),
        ({"feature_bounds": None}, "declare feature_bounds"),
        ({"labels": None}, "friends has no single class per node"),
        ({"features": None}, "friends has no node features"),
        ({"feature_bounds": [1, 0]}, "datasets.friends.feature_bounds"),
        ({"name": "cora"}, "bears the name of a public one"),
        ({"name": "../up"}, "datasets.../up"),
    ],
    ids=str,
)
def test_a_mistake_in_a_graph_of_ones_own_ends_in_one_line(
    declare: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict, says: str
) -> None:
    declare(**changes)
    assert says in refusal(capsys, "--dataset", changes.get("name", "friends"))
    assert list((tmp_path / "store").glob("temporary/*")) == []


def test_an_interrupt_is_one_line(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("flows.run.run_study.run", interrupt)
    assert main(STUDY, ["--plain"]) == 130
    assert capsys.readouterr().err == "interrupted; finished points are kept, the same command goes on from here\n"


def test_as_a_program_it_ends_with_status_2_and_one_line(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "DVC_ROOT": str(tmp_path),
        "POINT_STORE": str(tmp_path / "store"),
        "HOME": str(tmp_path),
    }
    command = [sys.executable, "-m", f"flows.{STUDY}", "--plain", "--set", "repeats=0"]
    done = subprocess.run(command, cwd=PACKAGE_ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("error: params.yaml as changed for this run: demo.repeats: must be 1 or more (got 0)\n")
    assert not (tmp_path / "store").exists()


def test_the_helps_name_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(STUDY, ["--help"])
    text = capsys.readouterr().out
    for option in ("--profile", "--dataset", "--set", "--json", "--plain", "--export"):
        assert option in text


@pytest.mark.parametrize("repeated", [True, False])
def test_several_overrides_may_follow_one_option_or_several(repeated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("flows.run.run_study.run", lambda found, *_: asked.extend(found.request.overrides) or 0)
    assert main(STUDY, ["--plain", "--set", "seed=1", *(["--set"] if repeated else []), "repeats=2"]) == 0
    assert asked == ["seed=1", "repeats=2"]


def test_rows_are_written_before_anything_is_printed(
    workspace: Path, declare: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(private=False)

    def unread(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", unread)
    with pytest.raises(BrokenPipeError):
        main(STUDY, ["--plain", "--dataset", "friends", "--json", str(tmp_path / "rows.json")])
    assert (tmp_path / "rows.json").exists()


def test_a_store_may_be_named_from_home_or_from_here(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for place, folder in (("~/store", tmp_path / "home" / "store"), ("below", tmp_path / "below")):
        monkeypatch.setenv("POINT_STORE", place)
        assert open_store().root == folder
