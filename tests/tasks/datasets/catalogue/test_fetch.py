from __future__ import annotations

import hashlib
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tasks.datasets.catalogue import fetch
from tasks.datasets.catalogue.arrival import recorded_hash
from tasks.datasets.catalogue.fetch import fetch_files
from tasks.datasets.catalogue.manifest import Source, UpstreamFile
from tasks.errors import UserError

CONTENT = b"the published file\n" * 50
DIGEST = hashlib.sha256(CONTENT).hexdigest()
FILE = "set/data.bin"


@dataclass
class Server:
    """A loopback server: ``answers`` are used up one a request, the last one stays."""

    url: str = ""
    answers: list[tuple[int, bytes, int]] = field(default_factory=list)
    requests: int = 0

    def answer(self, content: bytes, *, status: int = 200, claimed: int | None = None) -> None:
        self.answers.append((status, content, len(content) if claimed is None else claimed))


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests += 1
            status, content, claimed = state.answers.pop(0) if len(state.answers) > 1 else state.answers[0]
            self.send_response(status)
            self.send_header("Content-Length", str(claimed))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        state.url = f"http://127.0.0.1:{listener.server_port}"
        thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
        thread.start()
        yield state
        listener.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "PAUSES", (0.0, 0.0))
    monkeypatch.delenv(fetch.MIRROR, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def dead_url() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/{FILE}"


def upstream(
    *urls: str, sha256: str | None = DIGEST, size: int | None = len(CONTENT), file: str = FILE
) -> UpstreamFile:
    return UpstreamFile(file, tuple(Source(url, size, sha256) for url in urls))


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refused(file: UpstreamFile, raw: Path, mirror: str = "") -> str:
    """The one line of the failure, after which nothing may lie below ``raw``."""
    with pytest.raises(UserError) as caught:
        fetch_files([file], raw / "set", mirror)
    assert files_below(raw) == []
    assert FILE in str(caught.value)
    return str(caught.value)


def test_a_file_arrives_once(server: Server, tmp_path: Path) -> None:
    server.answer(CONTENT)
    for _ in range(2):
        fetch_files([upstream(f"{server.url}/{FILE}")], tmp_path / "set")
    assert (tmp_path / "set" / "data.bin").read_bytes() == CONTENT
    assert server.requests == 1
    assert files_below(tmp_path) == ["set", "set/data.bin"]


def test_a_damaged_file_in_place_is_fetched_again(server: Server, tmp_path: Path) -> None:
    server.answer(CONTENT)
    (tmp_path / "data.bin").write_bytes(CONTENT[:-1])
    fetch_files([upstream(f"{server.url}/{FILE}")], tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("claimed", [None, len(CONTENT)], ids=["short file", "cut connection"])
def test_truncated(server: Server, tmp_path: Path, claimed: int | None) -> None:
    server.answer(CONTENT[:100], claimed=claimed)
    line = refused(upstream(f"{server.url}/{FILE}"), tmp_path)
    assert ("truncated" in line) == (claimed is None)
    assert server.requests == 3


def test_wrong_hash(server: Server, tmp_path: Path) -> None:
    server.answer(CONTENT[::-1])
    assert "sha256" in refused(upstream(f"{server.url}/{FILE}"), tmp_path)


def test_dead_url(tmp_path: Path) -> None:
    url = dead_url()
    line = refused(upstream(url), tmp_path)
    assert url in line
    assert fetch.MIRROR in line


def test_missing_upstream_is_not_asked_for_again(server: Server, tmp_path: Path) -> None:
    server.answer(b"", status=404)
    assert "404" in refused(upstream(f"{server.url}/{FILE}"), tmp_path)
    assert server.requests == 1


def test_passing_failures_are_tried_again(server: Server, tmp_path: Path) -> None:
    server.answer(b"", status=503)
    server.answer(CONTENT[:10], claimed=len(CONTENT))
    server.answer(CONTENT)
    fetch_files([upstream(f"{server.url}/{FILE}")], tmp_path / "set")
    assert server.requests == 3


def test_the_next_url_is_tried(server: Server, tmp_path: Path) -> None:
    server.answer(CONTENT)
    fetch_files([upstream(dead_url(), f"{server.url}/{FILE}")], tmp_path / "set")
    assert (tmp_path / "set" / "data.bin").read_bytes() == CONTENT


def test_one_missing_file_leaves_none_of_the_set(server: Server, tmp_path: Path) -> None:
    server.answer(CONTENT)
    good, bad = upstream(f"{server.url}/{FILE}", file="set/other.bin"), upstream(dead_url())
    with pytest.raises(UserError, match=r"data\.bin"):
        fetch_files([good, bad], tmp_path / "set")
    assert files_below(tmp_path) == []


def fill(mirror: Path, content: bytes) -> str:
    (mirror / FILE).parent.mkdir(parents=True)
    (mirror / FILE).write_bytes(content)
    return str(mirror)


def test_mirror_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(fetch.MIRROR, fill(tmp_path / "mirror", CONTENT))
    fetch_files([upstream(dead_url())], tmp_path / "raw" / "set")
    assert (tmp_path / "raw" / "set" / "data.bin").read_bytes() == CONTENT


def test_mirror_url_comes_first(server: Server, tmp_path: Path) -> None:
    server.answer(CONTENT)
    fetch_files([upstream(dead_url())], tmp_path / "set", f"{server.url}/")
    assert (tmp_path / "set" / "data.bin").read_bytes() == CONTENT


def test_missing_in_the_mirror_falls_through(server: Server, tmp_path: Path) -> None:
    server.answer(CONTENT)
    (tmp_path / "mirror").mkdir()
    fetch_files([upstream(f"{server.url}/{FILE}")], tmp_path / "set", str(tmp_path / "mirror"))
    assert (tmp_path / "set" / "data.bin").read_bytes() == CONTENT


def test_missing_in_the_mirror_and_upstream_names_both(tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    url = dead_url()
    line = refused(upstream(url), tmp_path / "raw", str(tmp_path / "mirror"))
    assert str(tmp_path / "mirror" / FILE) in line
    assert url in line


@pytest.mark.parametrize(
    ("content", "reason"), [(CONTENT[:9], "truncated"), (b"", "truncated"), (CONTENT + b"x", "sha256")]
)
def test_a_damaged_mirror_is_not_hidden(server: Server, tmp_path: Path, content: bytes, reason: str) -> None:
    server.answer(CONTENT)
    mirror = fill(tmp_path / "mirror", content)
    line = refused(upstream(f"{server.url}/{FILE}"), tmp_path / "raw", mirror)
    assert reason in line
    assert fetch.MIRROR in line
    assert server.requests == 0


def test_a_mirror_that_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"GRAPH_DATA_MIRROR.*nowhere"):
        fetch_files([upstream(dead_url())], tmp_path, str(tmp_path / "nowhere"))


def test_either_container_is_accepted(tmp_path: Path) -> None:
    """A repacked archive has another hash and the same content."""
    sources = (Source(dead_url(), 7, "0" * 64), Source(dead_url(), None, DIGEST))
    mirror = fill(tmp_path / "mirror", CONTENT)
    fetch_files([UpstreamFile(FILE, sources)], tmp_path / "set", mirror)
    assert (tmp_path / "set" / "data.bin").read_bytes() == CONTENT


def test_the_first_download_fixes_an_unpublished_hash(server: Server, tmp_path: Path) -> None:
    file = upstream(f"{server.url}/{FILE}", sha256=None, size=None)
    server.answer(CONTENT)
    fetch_files([file], tmp_path)
    assert (tmp_path / "data.bin.sha256").read_text() == f"{DIGEST}  data.bin\n"
    fetch_files([file], tmp_path)
    assert server.requests == 1
    (tmp_path / "data.bin").unlink()
    server.answers[:] = []
    server.answer(b"another file")
    with pytest.raises(UserError, match=r"delete data\.bin\.sha256"):
        fetch_files([file], tmp_path)
    assert files_below(tmp_path) == ["data.bin.sha256"]


def test_an_unwritable_place_is_one_clear_line(tmp_path: Path) -> None:
    mirror = fill(tmp_path / "mirror", CONTENT)
    (tmp_path / "raw").write_text("a file, not a folder")
    with pytest.raises(UserError, match=r"raw/data\.bin"):
        fetch_files([upstream(dead_url())], tmp_path / "raw", mirror)


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror = fill(tmp_path / "mirror", CONTENT)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"raw/data\.bin.*No space left on device"):
        fetch_files([upstream(dead_url())], tmp_path / "raw", mirror)
    assert files_below(tmp_path / "raw") == []


def test_a_damaged_note_of_the_first_download_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "flickr.mat.sha256").write_bytes(b"\xff\xfe\x00")
    assert recorded_hash(tmp_path / "flickr.mat") is not None
    (tmp_path / "flickr.mat.sha256").write_bytes(b"")
    assert recorded_hash(tmp_path / "flickr.mat") is None
