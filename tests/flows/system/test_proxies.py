from __future__ import annotations

import os
from pathlib import Path

import httpx
import pytest

from flows.system.proxies import configure_proxies
from tasks.errors import UserError


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in ("SSL_CERT_FILE", "PREFECT_API_URL"):
            monkeypatch.delenv(name)


def settled(monkeypatch: pytest.MonkeyPatch, **given: str) -> dict[str, str]:
    monkeypatch.setattr(os, "environ", dict(given))
    configure_proxies()
    return dict(os.environ)


def test_both_spellings_hold_the_union_of_the_users_hosts_and_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settled(monkeypatch, HTTP_PROXY="http://p:1", NO_PROXY="127.0.0.2", no_proxy="intranet,.corp")
    assert found["NO_PROXY"] == found["no_proxy"]
    assert found["NO_PROXY"].split(",") == ["127.0.0.2", "intranet", ".corp", "127.0.0.1", "localhost", "::1"]


def test_without_a_proxy_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settled(monkeypatch, LANG="C") == {"LANG": "C"}


@pytest.mark.parametrize("hosts", ["[::1]", "[fe80::1]:80,fd00::/8", "münchen.example", "::1,*.corp,10.0.0.0/8"])
def test_no_list_of_hosts_ends_httpx(hosts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", hosts)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    configure_proxies()
    httpx.Client().close()


@pytest.mark.parametrize(
    "proxy", ["ftp://h:1", "http://h:port", "http://[::1", "http://", "socks4://h:1", "socks5://u:hunter2@h:1"]
)
@pytest.mark.parametrize("name", ["HTTP_PROXY", "all_proxy"])
def test_a_proxy_that_no_library_can_use_is_named_without_its_password(
    name: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flows.system.proxies._has_socks", lambda: False)
    with pytest.raises(UserError, match=name) as refusal:
        settled(monkeypatch, **{name: proxy})
    assert "hunter2" not in str(refusal.value)


def test_a_socks_proxy_beside_those_of_http_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.system.proxies._has_socks", lambda: False)
    others = {"http_proxy": "http://p:1", "HTTPS_PROXY": "p:1"}
    assert "ALL_PROXY" not in settled(monkeypatch, ALL_PROXY="socks5://h:1", **others)
    monkeypatch.setattr("flows.system.proxies._has_socks", lambda: True)
    assert settled(monkeypatch, ALL_PROXY="socks5://h:1")["ALL_PROXY"] == "socks5://h:1"


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_cannot_be_read_matter_to_a_remote_server_alone(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "certificates.pem"
    if content is not None:
        place.write_text(content)
    for local in ({}, {"PREFECT_API_URL": "http://127.0.0.1:4200/api"}):
        assert "SSL_CERT_FILE" not in settled(monkeypatch, SSL_CERT_FILE=str(place), **local)
    with pytest.raises(UserError, match=f"SSL_CERT_FILE={place}"):
        settled(monkeypatch, SSL_CERT_FILE=str(place), PREFECT_API_URL="https://prefect.example/api")
