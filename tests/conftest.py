from __future__ import annotations

import os
from pathlib import Path

import pytest

MIRROR = "GRAPH_DATA_MIRROR"


@pytest.fixture(scope="session")
def mirror() -> str:
    """The folder or base URL that mirrors the upstream files, as the user set it."""
    place = os.environ.get(MIRROR, "").strip()
    if not place:
        pytest.skip(f"needs the upstream data: set {MIRROR} to a folder or base URL that mirrors it")
    if "://" not in place and not Path(place).expanduser().is_dir():
        pytest.fail(f"{MIRROR} names no folder")
    return place
