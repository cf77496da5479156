"""Settings of the environment that would end a run in its middle, refused before any server starts.

``python -m flows.system.settings_check`` says in one line what Prefect would not accept; nothing if all is well.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points  # noqa: TID251 - names only
from pathlib import Path

from flows.system.cpu_kernels import KERNELS
from flows.system.writable import check_writable
from tasks.errors import UserError
from tasks.redaction import without_secrets
from tasks.steps.tracking.address import sqlite_folder

COUNTS = ("NUMBA_NUM_THREADS", "MLFLOW_HTTP_REQUEST_TIMEOUT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
LISTS = ("OMP_NUM_THREADS",)
ZERO_IS_FINE = ("MLFLOW_HTTP_REQUEST_MAX_RETRIES",)
OURS = frozenset({"PREFECT_API_URL", "PREFECT_HOME", "PREFECT_SERVER_IDLE_SECONDS"})
"""Checked where they are used."""
EXTRAS = {"psycopg": "postgres", "pymysql": "mysql"}
"""By driver, what of this project's optional packages brings it."""
DATABASES = ("sqlite", "postgresql", "mysql", "mssql")
NO_DATABASE = ("http", "https", "databricks", "uc")
FOLDER = ("", "file")


def check_settings(root: Path, defaults: Mapping[str, str]) -> None:
    """Raise UserError for the first setting that cannot be used; ``defaults`` are those that the project makes."""
    _check_python(root)
    if (kernels := os.environ.get(KERNELS) or "portable") not in ("portable", "native"):
        raise UserError(f"{KERNELS}={kernels}: use portable (the default) or native")
    _check_counts()
    _check_tracking(root)
    _check_prefect(defaults)


def _check_python(root: Path) -> None:
    if any(action.strip().startswith("error") for action in os.environ.get("PYTHONWARNINGS", "").split(",")):
        raise UserError("PYTHONWARNINGS makes errors of what libraries warn of in each other; unset it")
    if "?" in str(root):  # the databases of Prefect and MLflow have addresses in which a query would begin there
        raise UserError(f"the name of the folder {root} holds a '?': move the project to another place")
    for path in (str(root), sys.prefix):
        try:
            path.encode()
        except UnicodeEncodeError:  # numba fails on it
            raise UserError(
                f"the name of the folder {path!a} cannot be read in this locale; set PYTHONUTF8=1"
            ) from None


def _check_counts() -> None:
    for name in (*COUNTS, *ZERO_IS_FINE, *LISTS):
        text = os.environ.get(name, "").strip()
        least = 0 if name in ZERO_IS_FINE else 1
        parts = text.split(",") if name in LISTS else [text]
        if text and not all(part.strip().isdecimal() and int(part) >= least for part in parts):
            raise UserError(f"{name}={text}: give a whole number of {least} or more, or unset it")


def _check_tracking(root: Path) -> None:
    uri = os.environ.get("MLFLOW_TRACKING_URI", "")
    scheme = uri.partition(":")[0].lower() if ":" in uri else ""
    kind, _, driver = scheme.partition("+")
    if uri and kind not in DATABASES:
        plugins = {plugin.name for plugin in entry_points(group="mlflow.tracking_store")}
        if kind in FOLDER and "MLFLOW_ALLOW_FILE_STORE" not in os.environ:
            raise UserError(f"MLFLOW_TRACKING_URI={uri}: MLflow keeps no runs in a folder; write sqlite:///FILE.db")
        if scheme not in {*FOLDER, *NO_DATABASE, *plugins}:
            known = ", ".join((*DATABASES, *NO_DATABASE))
            raise UserError(f"MLFLOW_TRACKING_URI={without_secrets(uri)}: give an address of {known}, or unset it")
        return
    if kind in DATABASES and (kind != "sqlite" or driver):
        _check_driver(uri)
    if folder := sqlite_folder(uri):
        check_writable(f"MLFLOW_TRACKING_URI={uri}", folder / "track.lock")
    # The migrations of MLflow's databases fill in what stands behind a % in the path of the environment.
    if "%" in sys.prefix:
        raise UserError(f"MLflow cannot work below a folder whose name holds a '%': move {root} to another place")


def _check_driver(uri: str) -> None:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    shown = f"MLFLOW_TRACKING_URI={without_secrets(uri)}"
    try:
        dialect = make_url(uri).get_dialect()
        dialect.import_dbapi()
    except SQLAlchemyError:
        raise UserError(f"{shown}: SQLAlchemy knows no such database or driver; correct it or unset it") from None
    except ImportError as missing:
        if missing.name == "MySQLdb":
            raise UserError(f"{shown}: write mysql+pymysql://..., and pip install '.[mysql]'") from None
        extra = EXTRAS.get(str(missing.name))
        remedy = f"pip install '.[{extra}]'" if extra else f"install {missing.name}"
        raise UserError(f"{shown} needs {missing.name}, which is not installed: {remedy}, or unset it") from None
    if dialect.is_async:
        raise UserError(f"{shown}: MLflow needs a driver without asyncio, such as postgresql+psycopg://; correct it")


def _check_prefect(defaults: Mapping[str, str]) -> None:
    """In a process of its own: Prefect keeps the settings with which it is first imported."""
    given = any(
        name.startswith("PREFECT_") and name not in OURS and value != defaults.get(name)
        for name, value in os.environ.items()
    )
    if not given and not any(_prefect_files(Path(os.environ.get("PREFECT_HOME", defaults["PREFECT_HOME"])))):
        return
    command = [sys.executable, "-m", "flows.system.settings_check"]
    environment = {**defaults, **os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        raise UserError(done.stdout)


def _prefect_files(home: Path) -> Iterator[Path]:
    """The files, besides the environment, that hold settings of Prefect."""
    for path, marker in (
        (Path(".env"), "PREFECT_"),
        (Path("prefect.toml"), ""),
        (Path("pyproject.toml"), "[tool.prefect"),
        (home / "profiles.toml", ""),
    ):
        try:
            found = marker.upper() in path.read_text(encoding="utf-8", errors="replace").upper()
        except OSError:
            continue
        if found:
            yield path


def main() -> int:
    """Prefect reads its settings; 2 and a line on standard output where it cannot."""
    from pydantic import ValidationError

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            from prefect.settings import get_current_settings

            get_current_settings()
            return 0
        except ValidationError as error:
            problem = _named(error)
        except Exception as error:
            problem = f"Prefect's settings cannot be read: {(str(error).splitlines() or [type(error).__name__])[0]}"
    print(f"{problem}; correct it or unset it, in the environment, .env, prefect.toml or a profile of Prefect")
    return 2


def _named(error: object) -> str:
    """The setting and the rule, not the value, which may be a secret."""
    from prefect.settings.base import PrefectBaseSettings
    from pydantic import ValidationError

    assert isinstance(error, ValidationError)
    first = error.errors(include_url=False, include_input=False)[0]
    pending: list[type] = [PrefectBaseSettings]
    prefix = "PREFECT_"
    while pending:
        model = pending.pop()
        pending += model.__subclasses__()
        if model.__name__ == error.title:
            prefix = str(model.model_config.get("env_prefix", prefix))  # type: ignore[attr-defined]
    field = "_".join(str(part) for part in first["loc"]).upper()
    return f"{field if field.startswith('PREFECT_') else prefix + field}: {first['msg']}"


if __name__ == "__main__":
    sys.exit(main())
