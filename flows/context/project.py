"""Where a project's files are: what DVC versions, and the point store."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from flows.system.environment import PACKAGE_ROOT, project_root
from tasks.steps.tracking.address import default_tracking_uri, sqlite_file
from tasks.store import PointStore

log = logging.getLogger("pipeline")


WORKSPACE = PACKAGE_ROOT


def workspace() -> Path:
    """The folder with params.yaml and data/: the checkout, or DVC's copy of it in an experiment."""
    return WORKSPACE


def data_folder(kind: str, profile: str, *parts: str) -> Path:
    """Where DVC versions one kind of data (raw, noisy, results) of a profile."""
    return workspace().joinpath("data", kind, profile, *parts)


def private_places() -> list[Path]:
    """What tells of results beside the point store: the databases, logs and artifacts of Prefect and MLflow."""
    root, tracking = project_root(), sqlite_file(default_tracking_uri(project_root()))
    return [root / ".prefect", root / ".mlflow", *([tracking] if tracking else [])]


def open_store() -> PointStore:
    """The project's point store (or the one that POINT_STORE names), cleared of what killed runs left.

    Raises:
        UserError: when it cannot be used.
    """
    place = os.environ.get("POINT_STORE")
    folder = Path(place).expanduser().absolute() if place else project_root() / ".cache"
    store = PointStore(folder, exports=(workspace() / "data",))
    removed = store.sweep_leftovers()
    if removed:
        log.warning("removed %d unfinished points that killed runs left", removed)
    return store
