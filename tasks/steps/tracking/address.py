"""Where runs are tracked: the address, the lock that guards it, and whether a server answers there."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from pathlib import Path

from tasks.errors import UserError
from tasks.health import health
from tasks.redaction import without_secrets


def default_tracking_uri(root: Path) -> str:
    """MLFLOW_TRACKING_URI if set, else the project's own SQLite file."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{root / '.mlflow' / 'mlflow.db'}"


def sqlite_file(tracking_uri: str) -> Path | None:
    """The SQLite file; None for a server."""
    return Path(tracking_uri.removeprefix("sqlite:///")) if tracking_uri.startswith("sqlite:///") else None


def sqlite_folder(tracking_uri: str) -> Path | None:
    """The folder of an SQLite file; None for a server."""
    file = sqlite_file(tracking_uri)
    return file.parent if file else None


def lock_file(tracking_uri: str) -> Path:
    """The file that processes of this machine lock before they write there."""
    folder = sqlite_folder(tracking_uri)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        return folder / "track.lock"
    digest = hashlib.sha256(tracking_uri.encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"mlflow-track-{os.getuid()}-{digest}.lock"


def await_server(tracking_uri: str, retries: int) -> None:
    """Ask a tracking server for a sign of life: MLflow's own client would try for minutes and then print a page.

    Raises UserError if none comes.
    """
    if not tracking_uri.startswith(("http:", "https:")):
        return
    for attempt in range(retries + 1):
        found = health(tracking_uri, seconds=5)
        if isinstance(found, int):
            return  # It answers; what it thinks of us comes out with the first call.
        if attempt < retries:
            time.sleep(2.0**attempt)
    raise UserError(
        f"no MLflow server answers at {without_secrets(f'{tracking_uri} ({found})')}: start it or unset "
        "MLFLOW_TRACKING_URI; the results are safe on disk, python -m flows.relog sends them"
    )
