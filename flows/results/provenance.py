"""What a result that is kept was made with: revision, date, machine, versions."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version  # noqa: TID251 - versions only

from flows.system.environment import PACKAGE_ROOT

PACKAGES = ("torch", "dgl", "numpy", "scipy", "scikit-learn", "numba", "pot", "gensim", "pandas", "matplotlib")


def provenance() -> dict[str, object]:
    """The parts of a record that do not depend on the study."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": git_revision(),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Of Python and of the packages that results depend on, as installed now."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def git_revision() -> str:
    """The checkout's commit, marked where files differ from it; ``unknown`` where no git keeps these files."""
    # A folder from a zip download may lie in another project's repository, whose commit says nothing of it.
    if not _git("ls-files", "flows/results/provenance.py"):
        return "unknown"
    return _git("describe", "--always", "--dirty") or "unknown"


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    try:
        return subprocess.run(command, cwd=PACKAGE_ROOT, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""
