"""What must be settled before prefect, mlflow, dgl or matplotlib are imported: every entry point imports this first.

Standard library only: the libraries read their environment once, at import.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import tasks
from flows.system.process_end import leave_quickly
from flows.system.proxies import configure_proxies
from flows.system.settings_check import check_settings
from flows.system.streams import open_closed_streams, say
from tasks.errors import UserError

PACKAGE_ROOT = Path(__file__).resolve().parents[2]


def project_root() -> Path:
    """The folder of stores, databases and results: the one DVC runs in, else the one that holds these packages."""
    root = os.environ.get("DVC_ROOT")
    return Path(root).resolve() if root and Path(root).is_dir() else PACKAGE_ROOT


def configure_environment(root: Path | None = None) -> Path:
    """Set the environment that the libraries need, keeping what the user has set, and return the project's root.

    Everything a library would write below HOME goes below the project instead, so that an empty, missing or
    unwritable HOME is fine; nothing reports usage to anybody.

    Raises ``SystemExit``, after one line, where ``tasks`` is another project's package (PyPI has one of that name), and
    for a setting that cannot be used.
    """
    open_closed_streams()
    _refuse_foreign_packages()
    root = (root or project_root()).resolve()
    defaults = _settings(root)
    try:
        configure_proxies()
        check_settings(root, defaults)
    except UserError as mistake:
        say(f"error: {mistake}")
        raise SystemExit(2) from None
    # A run id left by an outer tool would swallow our runs into that one; figures are files and need no window; DGL
    # works with PyTorch alone here.
    for stray in ("MLFLOW_RUN_ID", "MPLBACKEND", "DGLBACKEND"):
        os.environ.pop(stray, None)
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
    leave_quickly()
    # Or a handler whose server is gone writes to the terminal for every message that it cannot send.
    logging.raiseExceptions = False
    return root


def _settings(root: Path) -> dict[str, str]:
    cache = root / ".cache"
    return {
        "DGLBACKEND": "pytorch",
        "DGLDEFAULTDIR": str(cache / "dgl"),
        "NUMBA_CACHE_DIR": str(cache / "numba"),
        "MPLCONFIGDIR": str(cache / "matplotlib"),
        # Spinning OpenMP threads starve the other workers of a small machine.
        "OMP_WAIT_POLICY": "PASSIVE",
        "PREFECT_HOME": str(root / ".prefect"),
        "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        # The terminal shows the pipeline's own lines; the Prefect UI keeps every message.
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_LOGGING_LEVEL": "WARNING",
        # The defaults, seven retries of two minutes each, hide an unreachable server for a quarter of an hour.
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
        "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
        "GIT_PYTHON_REFRESH": "quiet",
        "DVC_NO_ANALYTICS": "true",
        "DO_NOT_TRACK": "1",
    }


def _refuse_foreign_packages() -> None:
    found = getattr(tasks, "__file__", None)
    if found is None or Path(found).resolve().parent.parent != PACKAGE_ROOT:
        place = found or next(iter(tasks.__path__), "?")
        sys.stderr.write(
            f"error: 'tasks' resolves to {place}, not to {PACKAGE_ROOT / 'tasks'}; run from {PACKAGE_ROOT}\n"
        )
        raise SystemExit(2)
