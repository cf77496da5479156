from __future__ import annotations

from pathlib import Path

import pytest

from tasks.store import PointStore


@pytest.fixture
def store(tmp_path: Path) -> PointStore:
    return PointStore(tmp_path / "store")
