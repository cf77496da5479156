"""Every outcome of pip-audit in one line, with a stand-in for the program."""

from __future__ import annotations

import json
import shlex
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from flows import audit_deps
from flows.audit_deps import PINS, main

SOUND = {"name": "numpy", "version": "2.3.5", "vulns": []}
FLAWED = {
    "name": "aiohttp",
    "version": "3.1",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.2"]}, {"id": "GHSA-2", "fix_versions": []}],
}
SKIPPED = {"name": "torch", "skip_reason": "Dependency not found on PyPI"}


def program(folder: Path, answers: list[dict[str, Any]] | None, said: str = "") -> str:
    content = "" if answers is None else json.dumps({"dependencies": answers, "fixes": []})
    (folder / "answer.py").write_text(
        "import sys\n"
        f"assert {str(PINS)!r} in sys.argv and '--no-deps' in sys.argv\n"
        f"sys.stdout.write({content!r}); sys.stderr.write({said!r}); sys.exit(1)\n"
    )
    return script(folder, f'{shlex.join([sys.executable, str(folder / "answer.py")])} "$@"')


def script(folder: Path, command: str) -> str:
    """A program of the shell's: the path of Python in a first line would have to be short and without a blank."""
    path = folder / "pip-audit"
    path.write_text(f"#!/bin/sh\nexec {command}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("answers", "status", "out", "err"),
    [
        ([SOUND], 0, "1 pinned packages audited, 0 known vulnerabilities\n", ""),
        (
            [SOUND, FLAWED],
            1,
            "aiohttp 3.1: PYSEC-1; fixed in 3.2\naiohttp 3.1: GHSA-2; no fixed version yet\n"
            "2 pinned packages audited, 2 known vulnerabilities\n",
            "",
        ),
        (
            [SOUND, SKIPPED],
            2,
            "1 pinned packages audited, 0 known vulnerabilities\n",
            "error: 1 packages could not be audited: torch\n",
        ),
        (
            [SKIPPED],
            2,
            "",
            "error: the package index reached from here tells nothing about any of the 1 packages; run make audit-deps"
            " again where the public index is reached\n",
        ),
    ],
)
def test_every_answer_has_its_line(
    answers: list[dict[str, Any]], status: int, out: str, err: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([program(tmp_path, answers)]) == status
    assert capsys.readouterr() == (out, err)


def test_offline_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "Traceback (most recent call last):\n  ...\nrequests.exceptions.ConnectionError: no route\n"
    assert main([program(tmp_path, None, said)]) == 2
    assert capsys.readouterr().err == (
        "error: the vulnerability database was not reached (requests.exceptions.ConnectionError: no route); run make"
        " audit-deps again with a network\n"
    )


def test_a_missing_or_silent_program_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "missing")]) == 2
    assert "make audit-deps installs it" in capsys.readouterr().err
    monkeypatch.setattr(audit_deps, "SECONDS", 0.2)
    assert main([script(tmp_path, "sleep 30")]) == 2
    assert "gave no answer" in capsys.readouterr().err
