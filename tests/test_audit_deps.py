"""`make audit-deps` with a stand-in for pip-audit: nothing but an answer about every package is an all-clear."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAKE = ["make", "--silent", "--old-file", ".venv/.installed", "audit-deps"]


def audit(folder: Path) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "Makefile", folder)
    return subprocess.run(MAKE, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("status", "said", "lines"),
    [
        (0, "WARNING: a hint\nNo known vulnerabilities found", 1),
        (1, "Found 2 known vulnerabilities in 1 package", 3),
        (1, "Traceback (most recent call last):\n  ...\nrequests.exceptions.ConnectionError: no route", 3),
    ],
)
def test_every_outcome_is_told_in_few_lines(status: int, said: str, lines: int, tmp_path: Path) -> None:
    program = tmp_path / ".audit/bin/pip-audit"
    program.parent.mkdir(parents=True)
    strict = 'case "$*" in *constraints.txt*--strict*) ;; *) exit 9 ;; esac'
    program.write_text(f"#!/bin/sh\n{strict}\necho table\ncat >&2 <<END\n{said}\nEND\nexit {status}\n")
    program.chmod(0o755)
    done = audit(tmp_path)
    assert done.stdout == "table\n"
    told = done.stderr.splitlines()
    assert told[0] == said.splitlines()[-1]
    assert (done.returncode, len(told)) == (2 * status, lines)
    assert [line.startswith("error: ") for line in told[1:2]] == [True] * (status > 0)


def test_without_the_program_it_says_so(tmp_path: Path) -> None:
    done = audit(tmp_path)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "pip-audit" in line
    assert not (tmp_path / ".audit").exists()
