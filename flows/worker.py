"""A worker for a pool of ``prefect.yaml``, with the settings of this project: ``python -m flows.worker [POOL]``.

It serves the Prefect server that PREFECT_API_URL names, else the one of ``make ui``, until it is interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from flows.server.local_server import require_answer
from flows.server.pages import POOL, running_server
from flows.system.environment import PACKAGE_ROOT, configure_environment
from flows.system.exit_status import exit_status
from tasks.errors import UserError


def main(arguments: list[str] | None = None) -> int:
    """Becomes Prefect's worker; 2 where there is no server, or none answers."""
    parser = argparse.ArgumentParser(prog="python -m flows.worker", description="run the sweeps of a work pool here")
    parser.add_argument("pool", nargs="?", default=POOL, help="local (default) or gpu")
    parser.add_argument("--limit", type=int, help="sweeps at a time")
    chosen = parser.parse_args(arguments)

    def work() -> None:
        root = configure_environment()
        if given := os.environ.get("PREFECT_API_URL"):
            require_answer(given)
        url = given or running_server(root)
        if not url:
            raise UserError("no Prefect server: run make ui, or name one with PREFECT_API_URL")
        _become_worker(url, chosen.pool, [] if chosen.limit is None else ["--limit", str(chosen.limit)])

    return exit_status(work)


def _become_worker(url: str, pool: str, options: list[str]) -> NoReturn:
    os.environ["PREFECT_API_URL"] = url
    os.environ["PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"] = "INFO"
    os.chdir(PACKAGE_ROOT)
    sys.stdout.flush()
    command = ["-m", "prefect", "worker", "start", "--pool", pool, "--type", "process", *options]
    os.execv(sys.executable, [sys.executable, *command])


if __name__ == "__main__":
    sys.exit(main())
