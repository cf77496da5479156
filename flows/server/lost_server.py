"""What becomes of a run whose Prefect server goes away: it ends, where Prefect would try again for many minutes.

Prefect asks its server from the flow, from every worker process, and for its last words at exit; each of them waits and
tries again. One thread watches for all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread

from tasks.errors import ServerLost
from tasks.health import answers, connects
from tasks.redaction import without_secrets

LOOK_SECONDS = 1.0
PATIENCE_SECONDS = 12.0
"""A server may be started again meanwhile; a busy one still takes connections."""


def server_lost(url: str) -> ServerLost:
    """The error that names the server."""
    return ServerLost(f"the Prefect server at {without_secrets(url)} does not answer any more")


def reached(url: str) -> bool:
    """Whether a server is at the address, however busy, directly or through a proxy."""
    return connects(url) or answers(url)


def watch_server(url: str, lost: Callable[[], object]) -> None:
    """Call ``lost`` once nobody was reached at the address for ``PATIENCE_SECONDS``; as long as the program runs."""

    def watch() -> None:
        last = time.monotonic()
        while time.monotonic() - last < PATIENCE_SECONDS:
            time.sleep(LOOK_SECONDS)
            if reached(url):
                last = time.monotonic()
        lost()

    Thread(target=watch, name="prefect-server", daemon=True).start()
