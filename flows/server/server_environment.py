"""The environment of a Prefect server on this machine, which everybody finds at ``http://HOST:PORT/api``."""

from __future__ import annotations

import os


def server_environment(host: str, port: int) -> dict[str, str]:
    """This process's environment, less what would lead the server or its page elsewhere."""
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    # The page asks the first two, not the command line, where its API is. A base path is for a server behind a proxy.
    return environment | {
        "PREFECT_SERVER_API_HOST": host,
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_API_BASE_PATH": "/api",
    }
