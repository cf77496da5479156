from __future__ import annotations

import os
from pathlib import Path

import pytest

from tasks.atomic_write import replace_file, write_atomically
from tasks.errors import UserError


def test_text_and_bytes_are_written_where_the_folder_is_missing(tmp_path: Path) -> None:
    write_atomically(tmp_path / "new/one.txt", "ε")
    write_atomically(tmp_path / "new/one.txt", "ε".encode() * 2)
    assert (tmp_path / "new/one.txt").read_text(encoding="utf-8") == "εε"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["one.txt"]


def test_what_is_cut_short_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "one.txt").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"one\.txt"):
        write_atomically(tmp_path / "one.txt", "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize(("mode", "found"), [(0o666, 0o640), (0o600, 0o600)])
def test_the_umask_takes_from_the_mode(mode: int, found: int, tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        replace_file(tmp_path / "one", b"", mode)
    finally:
        os.umask(old)
    assert (tmp_path / "one").stat().st_mode & 0o777 == found
