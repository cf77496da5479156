"""Whether a profile's Dask scheduler can be reached, told without importing Dask."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from tasks.errors import UserError
from tasks.parameters.profiles import Profile

CONNECT_SECONDS = 1.5
SOCKETS = ("tcp", "tls")
"""Dask's kinds of addresses that are plain sockets; the others are left to Dask."""


def require_scheduler(profile: Profile) -> None:
    """Refuse a scheduler by address where nothing listens.

    Raises:
        UserError: naming the address.
    """
    address = profile.dask_address
    if profile.runner != "dask" or address is None:
        return
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        if parts.scheme in SOCKETS:
            socket.create_connection((parts.hostname or "", parts.port or 0), CONNECT_SECONDS).close()
    except (OSError, ValueError):  # ValueError: no port at all
        raise unanswered(address) from None


def unanswered(address: str) -> UserError:
    """The error for a scheduler that is not there."""
    return UserError(f"dask_address {address} does not answer; start that scheduler or correct it")
