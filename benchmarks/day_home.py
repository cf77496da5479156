"""A fresh clone of this checkout with the pages of ``make ui`` up, for one day."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sweeping import Project, free_port
from flows.system.environment import PACKAGE_ROOT
from flows.system.processes import Process


@dataclass
class Home:
    """A clone, where everything of this day lies."""

    root: Path
    prefect: str
    mlflow: str

    def run(self, *arguments: str) -> str:
        """What Python with these arguments printed.

        Raises:
            AssertionError: when it fails.
        """
        environment = Project(self.root).variables() | {"PREFECT_API_URL": f"{self.prefect}/api"}
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(arguments)}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    def up(self) -> None:
        """``make ui``."""
        ports = [page.rpartition(":")[2] for page in (self.prefect, self.mlflow)]
        self.run("-m", "flows.ui", "up", "--prefect-port", ports[0], "--mlflow-port", ports[1])

    def started(self) -> list[Process]:
        """What ``up`` recorded, and all that these have started."""
        try:
            record = json.loads((self.root / ".prefect/ui.json").read_text())
        except FileNotFoundError:
            return []
        found = [Process(**page["process"]) for page in record.values()]
        for process in found:
            found += process.children()
        return found


@contextmanager
def home() -> Iterator[Home]:
    """A fresh clone with its pages up; down in the end, whatever happens."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "project"
        subprocess.run(["git", "clone", "--quiet", str(PACKAGE_ROOT), str(root)], check=True)
        found = Home(root, f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}")
        try:
            found.up()
            yield found
        finally:
            found.run("-m", "flows.ui", "down")
