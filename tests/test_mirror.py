"""Tests that need upstream files skip without a mirror, and cannot skip where one is named."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
SAMPLE = "def test_sample(mirror):\n    assert mirror\n"


def outcome(folder: Path, place: str | None) -> str:
    shutil.copy(TESTS / "conftest.py", folder)
    (folder / "test_sample.py").write_text(SAMPLE)
    environment = {name: value for name, value in os.environ.items() if name != "GRAPH_DATA_MIRROR"}
    if place is not None:
        environment["GRAPH_DATA_MIRROR"] = place
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "-c", os.devnull, "test_sample.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout


def test_without_a_mirror_they_skip_and_say_why(tmp_path: Path) -> None:
    text = outcome(tmp_path, None)
    assert "1 skipped" in text
    assert "GRAPH_DATA_MIRROR" in text


def test_with_a_mirror_they_run(tmp_path: Path) -> None:
    assert "1 passed" in outcome(tmp_path, str(tmp_path))


def test_a_mirror_that_is_not_there_fails_the_run(tmp_path: Path) -> None:
    text = outcome(tmp_path, str(tmp_path / "nowhere"))
    assert "1 error" in text
    assert "GRAPH_DATA_MIRROR" in text
    assert "skipped" not in text


def test_nothing_else_skips_a_test() -> None:
    skipping = re.compile(r"pytest\.(skip|importorskip|mark\.skip|mark\.skipif|mark\.xfail|xfail)\b|unittest\.skip")
    found = [
        path.name for path in TESTS.rglob("*.py") if path.name != "test_mirror.py" and skipping.search(path.read_text())
    ]
    assert found == ["conftest.py"]


@pytest.mark.parametrize("mirrored", [True, False])
def test_ci_names_the_mirror_where_there_is_one_and_runs_make_test(tmp_path: Path, mirrored: bool) -> None:
    checkout, tools = tmp_path / "checkout", tmp_path / "tools"
    (checkout / ".ci").mkdir(parents=True)
    tools.mkdir()
    shutil.copy(TESTS.parent / ".ci" / "run", checkout / ".ci" / "run")
    (tools / "make").write_text('#!/bin/sh\necho "make $* with mirror ${GRAPH_DATA_MIRROR-none}"\n')
    (tools / "make").chmod(0o755)
    if mirrored:
        (tmp_path / "shared" / "datasets").mkdir(parents=True)
    environment = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([checkout / ".ci" / "run"], env=environment, capture_output=True, text=True, check=True)
    place = tmp_path / "shared" / "datasets" if mirrored else "none"
    assert done.stdout == f"make test with mirror {place}\n"
