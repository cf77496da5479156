from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import cloudpickle
import pytest

import flows
import tasks
from flows.studies.registry import STUDIES, declared
from flows.system.environment import PACKAGE_ROOT, configure_environment, project_root


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("PREFECT_", "MLFLOW_", "DVC_", "DGL", "NUMBA_", "MPL")) or "proxy" in name.lower():
            monkeypatch.delenv(name)


def test_the_packages_are_this_projects() -> None:
    for package in (flows, tasks):
        assert package.__file__
        assert Path(package.__file__).resolve().parent.parent == PACKAGE_ROOT


def test_the_root_is_dvcs_or_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project_root() == PACKAGE_ROOT
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    assert project_root() == tmp_path
    monkeypatch.setenv("DVC_ROOT", str(tmp_path / "gone"))
    assert project_root() == PACKAGE_ROOT


def test_settings_stay_below_the_root_and_give_way_to_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        os, "environ", dict(os.environ, PREFECT_HOME="/mine", MLFLOW_RUN_ID="stray", MPLBACKEND="x", DGLBACKEND="mxnet")
    )
    assert configure_environment(tmp_path) == tmp_path
    assert os.environ["PREFECT_HOME"] == "/mine"
    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path / ".cache/numba")
    assert os.environ["PREFECT_SERVER_ALLOW_EPHEMERAL_MODE"] == "false"
    assert os.environ["DGLBACKEND"] == "pytorch"
    assert not {"MLFLOW_RUN_ID", "MPLBACKEND"} & set(os.environ)
    assert "NO_PROXY" not in os.environ


def test_a_setting_that_cannot_be_used_is_one_line_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    environment = dict(os.environ, CPU_KERNELS="native", NUMBA_NUM_THREADS="0")
    script = "import sys, flows.run.command_line as c; print(c.main('perturb', ['--plain']))"
    for command in (["-c", script], ["-m", "flows.report"], ["-m", "flows.audit"]):
        done = subprocess.run(
            [sys.executable, *command], env=environment, cwd=PACKAGE_ROOT, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: NUMBA_NUM_THREADS=0")
        assert done.stderr.count("\n") == 1


def test_another_package_called_tasks_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/__init__.py").write_text("")
    environment = dict(os.environ, PYTHONPATH=f"{tmp_path}{os.pathsep}{PACKAGE_ROOT}")
    script = "from flows.system.environment import configure_environment; configure_environment()"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: 'tasks' resolves to {tmp_path}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [*(study.name for study in STUDIES), "download", "perturb", "sweep"])
def test_a_worker_process_that_imports_its_command_imports_no_study(command: str) -> None:
    text = f"import sys, flows.{command}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], cwd=PACKAGE_ROOT, capture_output=True, text=True, check=True)
    assert not {"prefect", "torch", "pandas", "sklearn", "mlflow"} & set(done.stdout.split())


def test_a_task_brings_no_study_to_its_worker() -> None:
    sent = cloudpickle.dumps(declared("node_classification").flow())
    text = "import sys, cloudpickle; cloudpickle.load(sys.stdin.buffer); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], cwd=PACKAGE_ROOT, input=sent, capture_output=True, check=True)
    imported = done.stdout.decode().split()
    assert "prefect" in imported
    assert not {"flows.studies.node_classification.flow", "flows.tracking.mlflow_log", "sklearn", "torch"} & {*imported}
