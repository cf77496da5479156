from __future__ import annotations

import httpx
import pytest

from flows.server.api_errors import api_errors
from tasks.errors import ServerLost, UserError


def answered(status: int) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://127.0.0.1:4200/api")
    return httpx.HTTPStatusError(str(status), request=request, response=httpx.Response(status, request=request))


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_asks_for_a_password_names_the_setting(status: int) -> None:
    with pytest.raises(UserError, match="PREFECT_API_AUTH_STRING"), api_errors():
        raise answered(status)


def test_a_server_that_is_gone_ends_the_run() -> None:
    with pytest.raises(ServerLost), api_errors():
        raise httpx.ConnectError("refused")


def test_other_answers_are_not_hidden() -> None:
    with pytest.raises(httpx.HTTPStatusError), api_errors():
        raise answered(500)
