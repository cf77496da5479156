"""Proxies of the environment, as the libraries can read them, and kept away from what runs on this machine.

Standard library only: the libraries read their environment when they are imported, or at every request.
"""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

from tasks.errors import UserError
from tasks.redaction import without_secrets

LOOPBACK = ("127.0.0.1", "localhost", "::1")
READ = {"http", "https"}
SOCKS = {"socks5", "socks5h"}


def configure_proxies() -> None:
    """Let requests to this machine pass every proxy by, and every library read what is set.

    NO_PROXY and no_proxy become one list: libraries read one or the other.

    Raises:
        UserError: for a proxy that no library can use, and for certificates that cannot be read.
    """
    _settle_certificates()
    listed = [host.strip() for name in _spellings("NO_PROXY") for host in os.environ.get(name, "").split(",")]
    named = [name for kind in ("HTTP", "HTTPS", "ALL") for name in _spellings(f"{kind}_PROXY") if os.environ.get(name)]
    if not named and not any(listed):
        return
    for name in named:
        _check_proxy(name)
    hosts = [readable for host in listed if (readable := _readable(host))]
    for name in _spellings("NO_PROXY"):
        os.environ[name] = ",".join(dict.fromkeys([*hosts, *LOOPBACK]))


def _spellings(name: str) -> Iterator[str]:
    yield from (name, name.lower())


def _check_proxy(name: str) -> None:
    value = os.environ[name]
    shown = without_secrets(f"{name}={value}")
    with contextlib.suppress(ValueError):
        address = urlsplit(value if "://" in value else f"http://{value}")
        address.port  # noqa: B018 - raises for one that is no number
        if address.scheme in READ and address.hostname:
            return
        if address.scheme in SOCKS and _has_socks():
            return
        if address.scheme in SOCKS and name.upper() == "ALL_PROXY" and _others_are_set():
            del os.environ[name]  # http and https have proxies of their own, so it would be asked for nothing
            return
        if address.scheme in SOCKS:
            raise UserError(
                f"{shown}: this environment speaks no SOCKS; pip install 'httpx[socks]' pysocks python-socks, name an"
                " http proxy, or unset it"
            )
    raise UserError(f"{shown} is not the address of a proxy; write http://HOST:PORT or unset it")


def _has_socks() -> bool:
    try:
        import python_socks  # noqa: F401 - of websockets
        import socks  # noqa: F401 - of requests
        import socksio  # noqa: F401 - of httpx
    except ImportError:
        return False
    return True


def _others_are_set() -> bool:
    return all(any(os.environ.get(name) for name in _spellings(f"{kind}_PROXY")) for kind in ("HTTP", "HTTPS"))


def _readable(host: str) -> str:
    """An entry of NO_PROXY as httpx can read it, which fails on some that others pass over; empty for nothing."""
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    address, slash, _ = host.partition("/")
    if slash and ":" in address and "://" not in host:
        return ""  # a network of IPv6 addresses, which no library here compares with
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        return ""


def _settle_certificates() -> None:
    """SSL_CERT_FILE that cannot be read: OpenSSL passes over it, httpx fails even where nothing is encrypted."""
    given = os.environ.get("SSL_CERT_FILE")
    if not given:
        return
    try:
        ssl.create_default_context(cafile=given)
    except OSError as error:
        if os.environ.get("PREFECT_API_URL", "").startswith("https:"):
            reason = error.strerror or "not a file of certificates"
            raise UserError(f"SSL_CERT_FILE={given} cannot be read ({reason}); correct it or unset it") from None
        del os.environ["SSL_CERT_FILE"]
