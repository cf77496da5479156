"""What becomes of a run whose Prefect server goes away: it ends, where Prefect would try again for many minutes.

Prefect asks its server from the flow, from every worker process, and for its last words at exit; each of them waits and
tries again. One thread watches for all of them.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from threading import Thread

from flows.health import answers, connects
from tasks.errors import ServerLost
from tasks.redaction import without_secrets

LOOK_SECONDS = 1.0
PATIENCE_SECONDS = 12.0
"""A server may be started again meanwhile; a busy one still takes connections."""


def server_lost() -> ServerLost:
    """The error that names the server at hand."""
    address = without_secrets(os.environ.get("PREFECT_API_URL", ""))
    return ServerLost(f"the Prefect server at {address} does not answer any more")


def watch_server(url: str, lost: Callable[[], object]) -> None:
    """Call ``lost`` once nobody was reached at the address for ``PATIENCE_SECONDS``; as long as the program runs."""

    def watch() -> None:
        last = time.monotonic()
        while time.monotonic() - last < PATIENCE_SECONDS:
            time.sleep(LOOK_SECONDS)
            if connects(url) or answers(url):  # the latter knows of proxies
                last = time.monotonic()
        lost()

    Thread(target=watch, name="prefect-server", daemon=True).start()


def is_program() -> bool:
    """Whether this process runs one of the commands, and so may be ended from any thread."""
    main = sys.modules["__main__"]
    return main.__spec__ is not None and main.__spec__.name.startswith("flows.")


def leave_at_once(status: int) -> None:
    """End the program here: its worker processes end with it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
