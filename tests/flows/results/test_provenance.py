from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from flows.results import provenance


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_the_commit_is_of_the_repository_that_keeps_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    (project / "flows/results").mkdir(parents=True)
    shutil.copy(str(provenance.__file__), project / "flows/results/provenance.py")
    monkeypatch.setattr(provenance, "PACKAGE_ROOT", project)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert provenance.git_revision() == "unknown"
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "of another project")
    assert provenance.git_revision() == "unknown"
    git(tmp_path, "add", "project")
    git(tmp_path, "commit", "--quiet", "--message", "of this one, too")
    assert provenance.git_revision() not in ("unknown", "")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert provenance.git_revision() == "unknown"
