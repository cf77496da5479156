from __future__ import annotations

import os
import sys
from pathlib import Path
from unittest import mock

import pytest

from flows.system.environment import PACKAGE_ROOT
from flows.system.settings_check import check_settings
from tasks.errors import UserError

CHECKED = ("PYTHONWARNINGS", "PREFECT_", "MLFLOW_", "NUMBA_", "OMP_", "MKL_", "OPENBLAS_")


@pytest.fixture(autouse=True)
def _clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(CHECKED):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def check(tmp_path: Path) -> None:
    check_settings(tmp_path, {"PREFECT_HOME": str(tmp_path / ".prefect"), "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL"})


def test_what_nobody_set_is_fine_and_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:4200/api")
    monkeypatch.setenv("PREFECT_LOGGING_INTERNAL_LEVEL", "CRITICAL")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    with mock.patch("subprocess.run", side_effect=AssertionError):
        check(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PYTHONWARNINGS", "ignore,error::DeprecationWarning"),
        ("NUMBA_NUM_THREADS", "0"),
        ("NUMBA_NUM_THREADS", "many"),
        ("OMP_NUM_THREADS", "-1"),
        ("OMP_NUM_THREADS", "2,x"),
        ("MKL_NUM_THREADS", "1.5"),
        ("MLFLOW_HTTP_REQUEST_TIMEOUT", "30s"),
        ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "-1"),
        ("MLFLOW_TRACKING_URI", "foo://place"),
        ("MLFLOW_TRACKING_URI", "runs"),
        ("MLFLOW_TRACKING_URI", "file:///tmp/runs"),
        ("MLFLOW_TRACKING_URI", "sqlite+nonsense:///x.db"),
        ("MLFLOW_TRACKING_URI", "sqlite:////dev/null/runs.db"),
        ("MLFLOW_TRACKING_URI", "postgresql+asyncpg://host/db"),
        ("PREFECT_LOGGING_LEVEL", "WARN"),
        ("PREFECT_API_REQUEST_TIMEOUT", "soon"),
        ("PREFECT_SERVER_DATABASE_TIMEOUT", "x"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=name):
        check(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PYTHONWARNINGS", "ignore::DeprecationWarning"),
        ("OMP_NUM_THREADS", "4,2"),
        ("NUMBA_NUM_THREADS", " 2 "),
        ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0"),
        ("MLFLOW_TRACKING_URI", "sqlite:////tmp/x.db"),
        ("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000"),
        ("PREFECT_LOGGING_LEVEL", "WARNING"),
    ],
)
def test_others_pass(name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    check(tmp_path)


@pytest.mark.parametrize(
    ("scheme", "module", "extra"),
    [
        ("postgresql+psycopg", "psycopg", "postgres"),
        ("mysql+pymysql", "pymysql", "mysql"),
        ("mysql", "MySQLdb", "mysql"),
    ],
)
def test_a_database_without_its_driver_names_what_to_install_and_no_password(
    scheme: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"{scheme}://me:hunter2@host/db")
    with pytest.raises(UserError, match=rf"\.\[{extra}\]") as refusal:
        check(tmp_path)
    assert "hunter2" not in str(refusal.value)
    assert f'\n{extra} = ["' in (PACKAGE_ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".env", "PREFECT_LOGGING_LEVEL=WARN\n"),
        ("prefect.toml", '[logging]\nlevel = "WARN"\n'),
        ("pyproject.toml", '[tool.prefect.logging]\nlevel = "WARN"\n'),
    ],
)
def test_files_are_read_as_prefect_reads_them(file: str, text: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(UserError, match="PREFECT_LOGGING_LEVEL"):
        check(tmp_path)


def test_a_percent_sign_in_the_path_is_refused_where_mlflow_would_fail_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", "/home/me/50%/.venv")
    with pytest.raises(UserError, match="%"):
        check(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    check(tmp_path)


def test_a_question_mark_in_the_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\?"):
        check(tmp_path / "what?" / "project")


def test_a_name_that_the_locale_cannot_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", os.fsdecode(b"/home/\xff/.venv"))
    with pytest.raises(UserError, match="PYTHONUTF8"):
        check(tmp_path)
