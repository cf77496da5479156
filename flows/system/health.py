"""Whether an address answers; no library that reads its settings once is imported here."""

from __future__ import annotations

import http.client
import socket
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from tasks.redaction import without_user


def answers(url: str, seconds: float = 2.0) -> bool:
    """Whether ``url``/health is served: by a Prefect API or an MLflow server (one that asks for a key answers too)."""
    try:
        with urllib.request.urlopen(f"{without_user(url).rstrip('/')}/health", timeout=seconds) as reply:
            return reply.status == 200
    except urllib.error.HTTPError as error:
        return error.code in (401, 403)
    except (OSError, ValueError, http.client.HTTPException):
        return False


def connects(url: str, seconds: float = 1.0) -> bool:
    """Whether anybody takes connections at the address, however busy."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), seconds).close()
    except (OSError, ValueError):
        return False
    return True
