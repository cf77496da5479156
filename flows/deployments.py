"""What a Prefect server needs to run sweeps: ``python -m flows.deployments``, with PREFECT_API_URL naming the server.

Runs that a killed process left running are marked so. Work pools and the limit of the GPU are created where they are
missing. ``prefect.yaml`` is deployed when one of its deployments is missing, or the file or the form of a sweep has
changed since: deploying sets every schedule back to what the file says.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from flows.server.local_server import require_answer
from flows.system.environment import configure_environment
from flows.system.exit_status import exit_status
from tasks.errors import UserError


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 2 where there is no server, and when Prefect refuses the file."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.deployments", description="deploy prefect.yaml on the server that PREFECT_API_URL names"
    )
    parser.parse_args(arguments)

    def work() -> None:
        configure_environment()
        url = os.environ.get("PREFECT_API_URL")
        if not url:
            raise UserError("no Prefect server: name one with PREFECT_API_URL, or run make ui, which deploys by itself")
        require_answer(url)
        # Imported now: prefect reads the server's address once, when it is first imported.
        from flows.run.deploying import prepare_server

        prepare_server()

    return exit_status(work, "the same command goes on from here")


if __name__ == "__main__":
    sys.exit(main())
