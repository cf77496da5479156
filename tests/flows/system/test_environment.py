from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import cloudpickle
import pytest

import flows
import tasks
from flows.studies.registry import declared
from flows.system.environment import PACKAGE_ROOT, project_root, settle


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
    assert settle(tmp_path) == tmp_path
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
    script = "from flows.system.environment import settle; settle()"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: 'tasks' resolves to {tmp_path}")
    assert done.stderr.count("\n") == 1


def test_workers_of_a_command_begin_without_its_studies() -> None:
    text = """
    import multiprocessing.spawn, runpy, sys
    import flows.run.command_line, flows.system.environment
    flows.run.command_line.guarded = lambda *_, **__: flows.system.environment.lighten_workers()
    sys.argv[1:] = ["--plain"]
    try:
        runpy._run_module_as_main("flows.sweep", alter_argv=False)
    except SystemExit:
        pass
    print(multiprocessing.spawn.get_preparation_data("worker")["init_main_from_name"])
    """
    command = [sys.executable, "-c", textwrap.dedent(text)]
    done = subprocess.run(command, cwd=PACKAGE_ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["flows.system.environment"], done.stderr


def test_a_task_brings_no_study_to_its_worker() -> None:
    sent = cloudpickle.dumps(declared("node_classification").flow())
    text = "import sys, cloudpickle; cloudpickle.load(sys.stdin.buffer); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], cwd=PACKAGE_ROOT, input=sent, capture_output=True, check=True)
    imported = done.stdout.decode().split()
    assert "prefect" in imported
    assert not {"flows.studies.node_classification.flow", "flows.tracking.mlflow_log", "sklearn", "torch"} & {*imported}
