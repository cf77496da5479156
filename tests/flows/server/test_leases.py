from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from flows.server.leases import LeaseFolder
from tasks.errors import UserError


def test_a_folder_whose_files_cannot_be_opened_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a read-only file system that holds them already, or where another user made them."""
    LeaseFolder(tmp_path)
    opened = os.open

    def refuse(path: str | Path, *arguments: int) -> int:
        if str(path).endswith("server.lock"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return opened(path, *arguments)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(UserError, match=r"server\.lock: Read-only file system.*--plain"):
        LeaseFolder(tmp_path)


def test_a_lock_that_is_held_is_not_had_without_waiting(tmp_path: Path) -> None:
    first, second = LeaseFolder(tmp_path), LeaseFolder(tmp_path)
    with first.locked() as held, second.locked(wait=False) as taken, second.locked("supervisor", wait=False) as other:
        assert (held, taken, other) == (True, False, True)
    with second.locked(wait=False) as free:
        assert free
