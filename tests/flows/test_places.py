from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from flows.command import main
from flows.places import check_places
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
    monkeypatch.setattr("flows.command.leased_server", lambda: pytest.fail("a server started"))
    (tmp_path / "file").touch()
    for place, says in ((tmp_path, "is a folder; name a file"), (tmp_path / "file" / "x", "is a file, no folder")):
        assert main(study, ["--json", str(place)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"error: --json {place}")
        assert says in line
