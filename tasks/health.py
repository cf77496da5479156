"""Whether an address answers; no library that reads its settings once is imported here."""

from __future__ import annotations

import http.client
import socket
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from tasks.redaction import without_user


def health(url: str, seconds: float = 2.0) -> int | str:
    """The HTTP status with which ``url``/health is served, by a Prefect API or an MLflow server, or why it is not."""
    try:
        with urllib.request.urlopen(f"{without_user(url).rstrip('/')}/health", timeout=seconds) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, ValueError, http.client.HTTPException) as error:
        return str(getattr(error, "reason", error))


def answers(url: str, seconds: float = 2.0) -> bool:
    """Whether ``url``/health is served; a server that asks for a key answers too."""
    return health(url, seconds) in (200, 401, 403)


def connects(url: str, seconds: float = 1.0) -> bool:
    """Whether anybody takes connections at the address, however busy."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), seconds).close()
    except (OSError, ValueError):
        return False
    return True
