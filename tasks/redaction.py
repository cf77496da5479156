"""Secrets out of texts that are printed, logged or raised: passwords in addresses, and what secret variables hold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit, urlunsplit

MASK = "***"
SHORTEST = 6  # a shorter value may be an ordinary word
SECRET_NAME = re.compile(r"PASSWORD|PASSWD|SECRET|TOKEN|API_KEY|ACCESS_KEY|AUTH_STRING|CREDENTIAL", re.IGNORECASE)
USER_INFO = re.compile(r"(?<=://)[^/\s]*@")


def without_secrets(text: str) -> str:
    """The text with ``***`` in place of user names and passwords in addresses and of secret variables' values."""
    text = USER_INFO.sub(f"{MASK}@", text)
    for secret in sorted(set(_secrets()), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def without_user(address: str) -> str:
    """A URL without user name and password, for a request that needs neither."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _secrets() -> Iterator[str]:
    for name, value in os.environ.items():
        found = [value] if SECRET_NAME.search(name) else []
        if "://" in value and "@" in value:
            user, _, password = value.partition("://")[2].split("/")[0].rpartition("@")[0].partition(":")
            found += [password or user, unquote(password or user)]
        yield from (secret for secret in found if len(secret) >= SHORTEST)
