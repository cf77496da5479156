"""Nothing that is read may run: no unrestricted unpickling, no evaluation of text, no unsafe YAML, anywhere."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("tasks", "flows", "benchmarks")
LOADERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "jsonpickle"}
# The restricted reader, and calls that the pipeline sends to its own worker processes.
MAY_IMPORT = {"tasks/datasets/unpickle.py": {"pickle"}, "flows/execution/submission.py": {"cloudpickle"}}
CALLS = {"torch.load", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "pd.read_pickle", "joblib.load", "loadmat"}
RULES = "S102,S104,S105,S106,S107,S202,S301,S302,S307,S308,S312,S501,S506,S602,S605"


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def dangers(source: str, allowed: set[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            names = {module.split(".")[0]} | {alias.name.split(".")[0] for alias in node.names}
            yield from names & (LOADERS - allowed)
        elif isinstance(node, ast.Call):
            if (name := dotted(node.func)) in CALLS:
                yield name
            for keyword in node.keywords:
                off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                if keyword.arg == "allow_pickle" and not off:
                    yield "allow_pickle"


def test_no_module_reads_what_can_run() -> None:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            name = str(path.relative_to(ROOT))
            assert not list(dangers(path.read_text(encoding="utf-8"), MAY_IMPORT.get(name, set()))), name


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from joblib import load",
        "import torch; torch.load('x')",
        "import yaml; yaml.load(x)",
        "import numpy as np; np.load(x, allow_pickle=True)",
        "import numpy as np; np.load(x, allow_pickle=trust)",
        "from scipy.io import loadmat; loadmat(x)",
    ],
)
def test_a_planted_line_is_found(line: str) -> None:
    assert list(dangers(line, set()))


def test_the_linters_security_rules_hold(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--isolated", "--select", RULES]
    done = subprocess.run([*command, *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    (tmp_path / "planted.py").write_text("import yaml\nyaml.load(open('x').read(), Loader=yaml.Loader)\neval('1')\n")
    planted = subprocess.run([*command, "planted.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert planted.returncode == 1
    assert "S506" in planted.stdout and "S307" in planted.stdout
