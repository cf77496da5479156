from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.datasets.user_graph import UserDataset
from tasks.steps.download import RawSource, download
from tasks.store import PointStore

Declare = Callable[..., RawSource]


@pytest.fixture
def store(tmp_path: Path) -> PointStore:
    return PointStore(tmp_path / "store")


@pytest.fixture
def declare(store: PointStore, own_files: Path) -> Declare:
    """The small graph as a source: declare(private=True) and other changes of its declaration."""

    def declared(**changes: object) -> RawSource:
        fields = {
            "name": "friends",
            "edges": own_files / "edges.csv",
            "features": own_files / "features.csv",
            "labels": own_files / "labels.csv",
            "feature_bounds": (0.0, 1.0),
            "private": False,
            **changes,
        }
        return download.plain(store, fields["name"], UserDataset(**fields))  # type: ignore[attr-defined]

    return declared


@pytest.fixture
def source(declare: Declare) -> RawSource:
    return declare()


@pytest.fixture
def secret_source(declare: Declare) -> RawSource:
    return declare(private=True)
