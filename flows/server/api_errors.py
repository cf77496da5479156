"""What Prefect's client raises, as the one line that a user needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from prefect.settings import PREFECT_API_URL

from flows.server.lost_server import server_lost
from tasks.errors import UserError
from tasks.redaction import without_secrets

REFUSALS = (401, 403)


@contextmanager
def api_errors() -> Iterator[None]:
    """For calls of the server, and flows, whose states go there.

    Raises:
        UserError: when the server asks for a password that it was not given.
        ServerLost: when it goes away.
    """
    try:
        yield
    except httpx.TransportError:
        raise server_lost(str(PREFECT_API_URL.value())) from None
    except httpx.HTTPStatusError as error:
        if error.response.status_code not in REFUSALS:
            raise
        raise UserError(
            f"the Prefect server at {_address()} asks for a password (HTTP {error.response.status_code}): set "
            "PREFECT_API_AUTH_STRING to its user:password, or PREFECT_API_KEY to a key"
        ) from None


def _address() -> str:
    return without_secrets(str(PREFECT_API_URL.value()))
