from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.sweeping import Project, Sweep, free_port, until
from tasks.store import PointStore


def write(folder: Path) -> None:
    (folder / "value.txt").write_text("7")


def test_a_point_computed_again_or_damaged_or_left_half_done_is_seen(tmp_path: Path) -> None:
    project = Project(tmp_path)
    store = PointStore(project.store)
    point = store.point({"step": "seven"}, write, label="seven")
    before = project.points()
    assert set(before) == {point.digest}
    assert project.damage() == []

    assert store.point({"step": "seven"}, write, label="seven").cached
    assert project.points() == before

    point.file("value.txt").write_text("8")
    assert project.damage() == [f"point {point.digest}: value.txt has changed"]
    shutil.rmtree(point.folder)
    (project.store / "temporary" / "half.1").mkdir()
    assert not store.point({"step": "seven"}, write, label="seven").cached
    assert project.points() != before
    assert project.damage() == ["left over: half.1"]


def test_what_a_sweep_says_it_computed_and_the_processes_below_it(tmp_path: Path) -> None:
    program = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'input()']).wait()"
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, start_new_session=True)
    sweep = Sweep(process, tmp_path / "log", tmp_path / "rows")
    sweep.log.write_text("forecast: none\ncomputed in 1.2 s: split digits repeat=0\nfailed: search\n")
    assert sweep.computed == ["split digits repeat=0"]
    assert until(lambda: len(sweep.family()) == 2)
    family = sweep.family()
    process.communicate(b"\n")
    assert until(lambda: not any(member.alive() for member in family))
    assert sweep.family() == []


def test_settings_of_the_user_do_not_reach_a_trial(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://elsewhere")
    monkeypatch.setenv("POINT_STORE", "elsewhere")
    own = Project(tmp_path, environment={"MLFLOW_TRACKING_URI": "http://here"}).variables()
    assert "PREFECT_API_URL" not in own
    assert "POINT_STORE" not in own
    assert (own["DVC_ROOT"], own["MLFLOW_TRACKING_URI"]) == (str(tmp_path), "http://here")


def test_a_free_port_and_a_vain_wait() -> None:
    assert 1024 < free_port() < 65536
    assert not until(lambda: False, 0.1)
