from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.run.sweep_request import NAMES as STUDIES
from flows.stages import FILES, text
from flows.system.environment import PACKAGE_ROOT

PARAMETERS = yaml.safe_load((PACKAGE_ROOT / "params.yaml").read_text())


def read(name: str) -> dict[str, Any]:
    return yaml.safe_load((PACKAGE_ROOT / name).read_text())


def value_at(key: str) -> Any:
    """The value of a dotted key of params.yaml; KeyError when it is not written there."""
    found = PARAMETERS
    for part in key.split("."):
        found = found[part]
    return found


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_what_the_declarations_give(name: str) -> None:
    assert (PACKAGE_ROOT / name).read_text() == text(name)


def test_the_papers_pipeline_is_the_demos_with_another_name_and_place_and_ego_graphs() -> None:
    demo, paper = read("dvc.yaml"), read("paper/dvc.yaml")
    renamed = yaml.safe_load(re.sub(r"\bdemo\b", "paper", yaml.safe_dump(demo["stages"])))
    for stage in renamed.values():
        stage["wdir"] = ".."
    egos = paper["stages"].pop("ego_clustering")
    download, report = paper["stages"]["download"], paper["stages"]["report"]
    download["params"].remove("paper.ego_clustering.datasets")
    report["deps"].remove("data/results/paper/ego_clustering")
    report["plots"].remove("data/results/paper/report/egos")
    assert paper == {"vars": ["../params.yaml"], "stages": renamed}

    as_graphs = re.sub("ego_clustering", "graph_classification", yaml.safe_dump(egos))
    expected = {**renamed["graph_classification"]}
    folder = "data/results/paper/graph_classification/${item.dataset}"
    expected["outs"] = [*expected["outs"][:4], f"{folder}/maps.csv", *expected["outs"][4:]]
    assert yaml.safe_load(as_graphs) == expected


@pytest.mark.parametrize("name", ["dvc.yaml", "paper/dvc.yaml"])
def test_every_parameter_that_a_stage_names_is_written_in_the_file(name: str) -> None:
    """DVC refuses to run a stage whose parameter is missing, even where the model has a default."""
    text = (PACKAGE_ROOT / name).read_text()
    named = {key for stage in read(name)["stages"].values() for key in stage.get("params", [])}
    named |= {key for key in re.findall(r"\$\{([^}]+)\}", text) if not key.startswith("item.")}
    assert named
    for key in named:
        assert value_at(key) is not None or key.endswith("seed")


@pytest.mark.parametrize("name", ["dvc.yaml", "paper/dvc.yaml"])
def test_every_stage_of_a_study_depends_on_what_decides_its_results(name: str) -> None:
    profile = "demo" if name == "dvc.yaml" else "paper"
    for stage, content in read(name)["stages"].items():
        assert content["cmd"].startswith(f"python -m flows.{stage} ")
        assert f"--profile {profile}" in content["cmd"] or f"data/results/{profile}/" in content["cmd"]
        assert {"flows", "tasks"} <= set(content["deps"])
        if stage in STUDIES:
            assert {f"{profile}.seed", f"{profile}.repeats", f"{profile}.{stage}"} <= set(content["params"])


@pytest.mark.parametrize("name", ["dvc.yaml", "paper/dvc.yaml"])
def test_points_survive_a_rerun_and_metrics_stay_in_git(name: str) -> None:
    for content in read(name)["stages"].values():
        for output in content.get("outs", []):
            folder = next(iter(output)) if isinstance(output, dict) else output
            is_store = "/raw/" in folder or "/noisy/" in folder or folder.endswith("/points")
            assert is_store == (isinstance(output, dict) and output[folder].get("persist", False))
        for metrics in content.get("metrics", []):
            assert next(iter(metrics.values()))["cache"] is False


def expanded(profile: str) -> set[str]:
    """The names of a pipeline's stages; the one that a matrix makes for an item is called stage@item."""
    names = set()
    for stage, content in read("dvc.yaml" if profile == "demo" else "paper/dvc.yaml")["stages"].items():
        matrix = content.get("matrix")
        names |= {f"{stage}@{item}" for item in value_at(matrix["dataset"][2:-1])} if matrix else {stage}
    return names


def test_the_lock_is_of_the_stages_of_the_demo() -> None:
    """It fails when a stage was added or renamed and `make run` was not run afterwards."""
    assert set(read("dvc.lock")["stages"]) == expanded("demo")


def test_dvc_itself_reads_both_pipelines(tmp_path: Path) -> None:
    """In a repository of its own, which shares nothing with this one."""
    for name in ("dvc.yaml", "params.yaml", ".dvcignore"):
        shutil.copy(PACKAGE_ROOT / name, tmp_path / name)
    shutil.copytree(PACKAGE_ROOT / "paper", tmp_path / "paper")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    listed = {}
    for argument in ("init --quiet", "stage list --name-only dvc.yaml", "stage list --name-only paper/dvc.yaml"):
        command = [sys.executable, "-m", "dvc", *argument.split()]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        listed[argument] = set(re.findall(r"[\w@-]+$", done.stdout, re.MULTILINE))
    assert listed["stage list --name-only dvc.yaml"] == expanded("demo")
    assert listed["stage list --name-only paper/dvc.yaml"] == expanded("paper")


def test_make_run_needs_no_git_and_uses_it_where_it_is(tmp_path: Path) -> None:
    """The Makefile's first lines, with a pipeline of one stage in place of the demo's."""
    for name in ("Makefile", ".dvcignore", ".dvc/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(PACKAGE_ROOT / name, tmp_path / name)
    (tmp_path / "dvc.yaml").write_text("stages: {one: {cmd: echo 1 > made, outs: [made]}}\n")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "dvc").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dvc "$@"\n')
    (tmp_path / ".venv" / "bin" / "dvc").chmod(0o755)
    summary = tmp_path / "data/results/demo/report/summary.txt"
    summary.parent.mkdir(parents=True)
    summary.write_text("done\n")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "DVC_", "MAKE", "MFLAGS"))
    }
    environment["GIT_CEILING_DIRECTORIES"] = str(tmp_path.parent)
    for git in (False, True):
        if git:
            subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
        command = ["make", "--assume-old", ".venv/.installed", "run"]
        (tmp_path / ".venv" / ".installed").touch()
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith("done\n")
        local = tmp_path / ".dvc" / "config.local"
        assert ("no_scm" in local.read_text()) is not git
    assert (tmp_path / "made").read_text() == "1\n"
