from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from flows.studies.registry import STAGES, STUDIES, declared
from flows.system.environment import PACKAGE_ROOT
from tasks.errors import UserError

DECLARATION = '''"""A study of degrees, declared."""

from flows.context.declaration import StudyDeclaration
from tasks.parameters.values import Section


class Degrees(Section):
    """Its section."""

    datasets: list[str] = ["digits"]
    budget: str = "inf"


def _flow():
    from flows.studies.degrees.flow import degrees

    return degrees


def _outputs():
    from flows.studies.degrees.flow import OUTPUTS

    return OUTPUTS


DEGREES = StudyDeclaration("degrees", _flow, grid=Degrees, outputs=_outputs, figures="degrees")
'''
FLOW = '''"""A study of degrees."""

from dataclasses import dataclass

from prefect import flow

from flows.context.declaration import StudyOutputs
from flows.results.published import printed
from flows.studies.conduct import FLOW, conducted
from flows.studies.scoring import metric_rows, score_and_track
from tasks.steps.split import split


@dataclass(frozen=True)
class Cell:
    dataset: str
    method: str = "mean degree"

    @property
    def settings(self):
        return {}

    def __str__(self):
        return f"{self.dataset} {self.method}"


@flow(name="degrees", **FLOW)
@conducted("degrees")
def degrees(study, tracker):
    """A split for a score."""
    sources = study.sources()
    calls = [
        study.call(split, "split", Cell(name), repeat, source=source)
        for name, source in sources.items()
        for repeat in range(study.profile.repeats)
    ]

    def rows_of(cell, repeat, scored):
        return metric_rows(study, cell, repeat, {"degree": 4})

    scores = score_and_track(study, tracker, study.run(calls), sources, rows_of)
    return study.outcome(scores.all_rows, {})


OUTPUTS = StudyOutputs(lambda: printed("gromov").iloc[:0], lambda compared, folder, vector, rows: [])
'''


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the code, with one more study: its folder, and one name in the registry."""
    root = tmp_path / "checkout"
    for package in ("flows", "tasks"):
        shutil.copytree(PACKAGE_ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PACKAGE_ROOT / "data/reference", root / "data/reference")
    shutil.copy(PACKAGE_ROOT / "params.yaml", root)
    (root / "paper").mkdir()
    folder = root / "flows/studies/degrees"
    folder.mkdir()
    for name, text in {"__init__": "", "declaration": DECLARATION, "flow": FLOW}.items():
        (folder / f"{name}.py").write_text(text)
    registry = root / "flows/studies/registry.py"
    imported = "from flows.studies.degrees.declaration import DEGREES\n"
    text = registry.read_text().replace("    NODE_EMBEDDING,\n", "    NODE_EMBEDDING,\n    DEGREES,\n")
    registry.write_text(text.replace("from flows.studies.ego", imported + "from flows.studies.ego", 1))
    return root


def test_a_study_comes_in_by_its_folder_and_the_registry(checkout: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "DVC_"))}
    environment |= {"POINT_STORE": str(checkout / "store"), "HOME": str(checkout)}
    environment["MLFLOW_TRACKING_URI"] = f"sqlite:///{checkout / 'mlflow.db'}"

    def run(*words: str) -> None:
        command = [sys.executable, "-m", *words]
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    run("flows.sweep", "--study", "degrees", "--plain", "--repeats", "2", "--json", "rows.json")
    rows = json.loads((checkout / "rows.json").read_text())
    assert [(row["study"], row["dataset"], row["repeat"], row["value"]) for row in rows] == [
        ("degrees", "digits", repeat, 4) for repeat in (0, 1)
    ]
    run("flows.stages")
    paper, demo = (yaml.safe_load((checkout / name).read_text())["stages"] for name in ("paper/dvc.yaml", "dvc.yaml"))
    assert "degrees" in paper
    assert "degrees" not in demo
    assert "data/results/paper/report/degrees" in paper["report"]["plots"]


def test_names_are_distinct_and_another_one_is_refused() -> None:
    names = [declaration.name for declaration in (*STUDIES, *STAGES)]
    assert len(set(names)) == len(names)
    assert all(declared(name).name == name for name in names)
    with pytest.raises(UserError):
        declared("none such")


def test_figures_captions_and_tables_of_studies_do_not_collide() -> None:
    for shared in (
        [study.figures for study in STUDIES],
        [name for study in STUDIES for name in study.captions],
        [name for study in STUDIES for name in study.tables],
    ):
        assert len(set(shared)) == len(shared)
