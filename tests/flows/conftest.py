from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def served_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One project folder for all tests with a real server: its database is laid out once, which takes ten seconds."""
    return tmp_path_factory.mktemp("served")


def wait_until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


@pytest.fixture(name="wait_until")
def _wait_until() -> Callable[..., None]:
    return wait_until
