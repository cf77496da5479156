"""Runs the commands of README.md, CONTRIBUTING.md and docs, whole, as documented.toml says: `make docs-test`.

In a fresh clone with this checkout's environment, an own point store and the documents' own ports, which must be free.
Commands run in the order of the documents; servers stay up until all else has been run. What is not committed is not
tried. Ends with status 1 where a command fails.

Run: ``python -m benchmarks.documented_commands [PATTERN]``; with a regular expression only commands in which it is
found.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.documented import Command, Rule, commands, documents, rule_of, rules
from flows.system.environment import PACKAGE_ROOT

PREREQUISITES = ".ci/install", "pyproject.toml", "constraints.txt", "requirements.lock"
FOREIGN = re.compile(r"PREFECT_|MLFLOW_|MAKE|MFLAGS|POINT_STORE|VIRTUAL_ENV")
SETTLING = 10.0
"""Seconds until a server is taken to be up."""
SHOWN = 3000
_EXPORT = re.compile(r"export (\w+)=(\S+)")


@dataclass
class Trial:
    """The clone and what has been started in it."""

    clone: Path
    scratch: Path
    failed: list[str] = field(default_factory=list)
    servers: list[tuple[str, subprocess.Popen[bytes]]] = field(default_factory=list)
    exported: tuple[str, dict[str, str]] = ("", {})

    def environment(self, place: str) -> dict[str, str]:
        """The user's without settings of ours, the environment's programs first, and what the block has exported."""
        if self.exported[0] != place:
            self.exported = (place, {})
        kept = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
        path = f"{self.clone / '.venv/bin'}{os.pathsep}{kept['PATH']}"
        return kept | {"PATH": path, "SCRATCH": str(self.scratch)} | self.exported[1]

    def run(self, command: Command, rule: Rule) -> None:
        """Run one command and say what came of it."""
        environment = self.environment(command.place)
        if export := _EXPORT.fullmatch(command.text):
            self.exported[1][export[1]] = export[2]
            return
        began = time.monotonic()
        shell = ["bash", "-c", rule.command(command.text)]
        if rule.stays:
            log = (self.scratch / f"server-{len(self.servers)}.log").open("wb")
            server = subprocess.Popen(shell, cwd=self.clone, env=environment, stdout=log, stderr=log, process_group=0)
            self.servers.append((command.text, server))
            time.sleep(SETTLING)
            good, said = server.poll() is None, ""
        else:
            done = subprocess.run(shell, cwd=self.clone, env=environment, capture_output=True, text=True, check=False)
            good, said = done.returncode == 0, done.stdout[-SHOWN:] + done.stderr[-SHOWN:]
        print(f"{'ok' if good else 'FAILED':6} {time.monotonic() - began:5.0f} s  {command.text}", flush=True)
        if not good:
            self.failed.append(command.text)
            print(said, flush=True)

    def stop(self) -> None:
        """End the servers; one that had ended before has failed."""
        for text, server in reversed(self.servers):
            if server.poll() is not None:
                self.failed.append(text)
                print(f"FAILED: did not stay up: {text}")
            else:
                os.killpg(server.pid, signal.SIGTERM)
                server.wait()


def fresh_clone(folder: Path) -> Path:
    """A clone that takes this checkout's environment for its own and up to date."""
    clone = folder / "project"
    subprocess.run(["git", "clone", "--quiet", str(PACKAGE_ROOT), str(clone)], check=True)
    (clone / ".venv").symlink_to(PACKAGE_ROOT / ".venv")
    for name in PREREQUISITES:
        os.utime(clone / name, (0, 0))
    return clone


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pattern", nargs="?", default="")
    pattern = parser.parse_args(arguments).pattern
    table = rules()
    found: dict[str, Command] = {}
    for command in (command for path in documents() for command in commands(path)):
        found.setdefault(command.text, command)
    todo = [(command, rule_of(command.text, table)) for command in found.values() if re.search(pattern, command.text)]
    missing = [command.text for command, rule in todo if rule is None]
    if missing:
        print(f"error: benchmarks/documented.toml has no rule for: {'; '.join(missing)}", file=sys.stderr)
        return 2
    runnable = [(command, rule) for command, rule in todo if rule and not rule.test and not rule.why]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        scratch = Path(folder) / "scratch"
        scratch.mkdir()
        trial = Trial(fresh_clone(Path(folder)), scratch)
        try:
            for command, rule in sorted(runnable, key=lambda entry: entry[1].last):
                trial.run(command, rule)
        finally:
            trial.stop()
            subprocess.run(
                [sys.executable, "-m", "flows.ui", "down"], cwd=trial.clone, capture_output=True, check=False
            )
    print(f"{len(runnable)} commands run, {len(trial.failed)} failed")
    return bool(trial.failed)


if __name__ == "__main__":
    sys.exit(main())
