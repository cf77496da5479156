"""The privacy boundary is enforced: a planted violation breaks its contract."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINT = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"

NO_WAY_ROUND = "The curator's numerics have no way round an import or into a process"
NUMERICS = ("curator", "models", "reports", "broadcasts")
"""What the curator computes with."""
PLANTED = [
    (
        "tasks/curator/rectify.py",
        "from tasks.datasets.catalogue.readers import load_dataset",
        "The curator never reaches raw data",
    ),
    ("tasks/curator/rectify.py", "import tasks.client.multibit", "The curator never reaches raw data"),
    (
        "tasks/curator/calibration/mutual.py",
        "import tasks.evaluation.attacks.edge_inference",
        "The curator never reaches raw data",
    ),
    *(
        ("tasks/curator/rectify.py", f"import {module}", NO_WAY_ROUND)
        for module in ("benchmarks.kills", "gc", "importlib", "pickle", "pkgutil", "runpy", "tasks.store", "tests")
    ),
    ("tasks/models/propagation.py", "import sqlite3", NO_WAY_ROUND),
    ("tasks/models/propagation.py", "import tasks.datasets.graph", "The curator never reaches raw data"),
    ("tasks/client/multibit.py", "import tasks.curator.rectify", "The client never reaches the curator"),
    ("tasks/reports/edge.py", "import tasks.client.labels", "Reports and models know neither side"),
    ("tasks/client/labels.py", "import prefect", "Numerics know no orchestration"),
    ("flows/report.py", "import mlflow", "Only the track step speaks to MLflow"),
]


def broken_contracts(root: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"], cwd=root, capture_output=True, text=True, check=False
    )
    assert "Contracts:" in done.stdout, done.stdout + done.stderr
    return {name.strip() for name in re.findall(r"^(.*) BROKEN\b", done.stdout, re.MULTILINE)}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("tree")
    shutil.copy(ROOT / "pyproject.toml", copy)
    for package in ("flows", "tasks"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_the_tree_as_it_is_keeps_every_contract(tree: Path) -> None:
    assert broken_contracts(tree) == set()


@pytest.mark.parametrize(("module", "line", "contract"), PLANTED, ids=lambda x: x)
def test_a_planted_import_breaks_its_contract(tree: Path, module: str, line: str, contract: str) -> None:
    path = tree / module
    before = path.read_text()
    path.write_text(f"{before}\n{line}\n")
    try:
        assert contract in broken_contracts(tree)
    finally:
        path.write_text(before)


@pytest.mark.parametrize(
    "line",
    [
        "import importlib",
        "from importlib import import_module",
        "import pkgutil",
        "import runpy",
        "from sklearn.datasets import load_files",
        "import sklearn.datasets",
    ],
)
def test_what_the_contracts_do_not_see_is_refused_by_the_linter(tmp_path: Path, line: str) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/hidden.py").write_text(f'"""Hidden."""\n\n{line}\n')
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "TID251", "tasks"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "TID251" in done.stdout


def used(source: str) -> set[str]:
    """Names that are read, attributes, and what is imported from modules."""
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    names |= {f".{node.attr}" for node in nodes if isinstance(node, ast.Attribute)}
    imported = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return names | {f"{node.module}.{alias.name}" for node in imported for alias in node.names}


DYNAMIC = {"__import__", "exec", "eval", "compile"}
HIDDEN = {
    *(DYNAMIC | {"open", "globals", "vars", "__builtins__", "__loader__", "__spec__"}),
    *(".modules", "sys.modules", ".meta_path", ".path_hooks", "._getframe", "sys._getframe"),
    *(".__globals__", ".__builtins__", ".__subclasses__", ".__loader__", ".__spec__", ".f_globals", ".f_back"),
}
"""Ways past the contracts; files are opened as paths are, ``Path.open``, of the points that a step is given."""


def test_no_module_imports_by_a_builtin_which_the_linter_does_not_see() -> None:
    for package in ("flows", "tasks"):
        for path in (ROOT / package).rglob("*.py"):
            assert not used(path.read_text()) & DYNAMIC, path


def test_the_curators_numerics_use_no_builtin_that_leads_past_the_contracts() -> None:
    for package in NUMERICS:
        for path in (ROOT / "tasks" / package).rglob("*.py"):
            assert not used(path.read_text()) & HIDDEN, path


@pytest.mark.parametrize(
    "line",
    [
        "open('edges.csv')",
        "__import__('tasks.datasets')",
        "import sys; sys.modules['tasks.steps.raw_source']",
        "from sys import modules",
        "().__class__.__base__.__subclasses__()",
    ],
)
def test_a_planted_builtin_is_found(line: str) -> None:
    assert used(line) & HIDDEN
