from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from flows.run.command_line import main
from flows.system.output_paths import check_places
from tasks.errors import UserError


def test_missing_folders_are_no_mistake_and_are_not_made_yet(tmp_path: Path) -> None:
    check_places({"--json": tmp_path / "new" / "deep" / "rows.json", "--csv": None})
    check_places({"--figure": tmp_path / "x.png"}, picture="--figure")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*, dir: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(dir))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(UserError) as refusal:
        check_places({"--json": tmp_path / "new" / "rows.json"})
    place = tmp_path / "new" / "rows.json"
    assert str(refusal.value) == (
        f"--json {place}: {tmp_path} cannot be written (Read-only file system); choose another"
    )


@pytest.mark.parametrize("study", ["node_classification", "graph_classification", "node_embedding", "sweep"])
def test_a_study_is_refused_before_its_server_starts(
    study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("flows.run.command_line.leased_server", lambda: pytest.fail("a server started"))
    (tmp_path / "file").touch()
    for place, says in ((tmp_path, "is a folder; name a file"), (tmp_path / "file" / "x", "is a file, no folder")):
        assert main(study, ["--json", str(place)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"error: --json {place}")
        assert says in line


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for file in ("params.yaml", "data/own/edges.csv", "data/results/demo/x/digits/rows.json", "Makefile", "rows.json"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / "params.yaml").write_text("datasets: {friends: {edges: data/own/edges.csv}}\n")
    monkeypatch.setattr("flows.system.output_paths.PACKAGE_ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "place",
    [
        "params.yaml",
        "Makefile",
        "data/own/edges.csv",
        "data/own/../own/edges.csv",
        "data/raw/demo/rows.json",
        "data/reference/solitude.csv",
        "data/results/demo/x/digits/rows.json",
        "flows/rows.json",
    ],
)
def test_what_the_project_reads_is_not_overwritten(place: str, checkout: Path) -> None:
    with pytest.raises(UserError, match="input"):
        check_places({"--json": checkout / place})
    link = checkout.parent / f"{checkout.name}-link"
    link.symlink_to(checkout / place)
    if link.exists():
        with pytest.raises(UserError, match="input"):
            check_places({"--json": link})


@pytest.mark.parametrize(
    "place", ["rows.json", "new.json", "data/own/rows.json", "data/results/demo/audit.json", "data/measured/a.csv"]
)
def test_other_places_of_the_checkout_may_be_written_again(place: str, checkout: Path) -> None:
    check_places({"--json": checkout / place})


@pytest.mark.parametrize("text", ["[", "datasets: 3", "datasets: {a: 1}", "datasets: {a: {edges: [1]}}"])
def test_a_mistake_in_the_parameters_is_not_the_places(text: str, checkout: Path) -> None:
    (checkout / "params.yaml").write_text(text)
    check_places({"--json": checkout / "rows.json"})
