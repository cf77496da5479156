from __future__ import annotations

import re
import stat
import warnings
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from tasks.datasets.archive import read_archive
from tasks.errors import UserError


def archive(path: Path, *members: tuple[str | ZipInfo, bytes]) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # doubled names are written on purpose
        for name, content in members:
            file.writestr(name, content)
    return path


def test_members_by_their_path(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("set/", b""), ("set//one.txt", b"1"), ("set/two.txt", b"22"))
    assert read_archive(path) == {"set/one.txt": b"1", "set/two.txt": b"22"}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "name", ["../out.txt", "set/../../out.txt", "/etc/out.txt", "C:/out.txt", "set\\..\\out.txt", "//host/out.txt"]
)
def test_paths_that_leave_the_folder(tmp_path: Path, name: str) -> None:
    info = ZipInfo("placeholder")
    info.filename = name
    with pytest.raises(UserError, match=re.escape(repr(name))):
        read_archive(archive(tmp_path / "a.zip", ("set/one.txt", b"1"), (info, b"out")))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices(tmp_path: Path, kind: int) -> None:
    info = ZipInfo("set/link")
    info.external_attr = (kind | 0o777) << 16
    with pytest.raises(UserError, match="'set/link'"):
        read_archive(archive(tmp_path / "a.zip", (info, b"/etc/passwd")))


def test_doubled_names(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'set/one.txt'"):
        read_archive(archive(tmp_path / "a.zip", ("set/one.txt", b"1"), ("set//one.txt", b"2")))


def test_one_large_member(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("bomb", bytes(100_000)))
    assert len(read_archive(path, member_limit=100_000)["bomb"]) == 100_000
    with pytest.raises(UserError, match="'bomb'"):
        read_archive(path, member_limit=99_999)


def test_many_members_together(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", *((f"part{number}", bytes(1000)) for number in range(10)))
    with pytest.raises(UserError, match="'part9'"):
        read_archive(path, total_limit=9999)


def test_a_declared_size_that_lies(tmp_path: Path) -> None:
    """The header says 5 bytes, the stream holds 100,000: no more than 5 may come out, and the checksum fails."""
    path = archive(tmp_path / "a.zip", ("bomb", bytes(100_000)))
    true, lie = (100_000).to_bytes(4, "little"), (5).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(true, lie))
    with pytest.raises(UserError, match=r"a\.zip"):
        read_archive(path, member_limit=1000)


def test_encrypted(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("one.txt", b"1"))
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"'one.txt'.*encrypted"):
        read_archive(path)


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive at all"])
def test_damaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(UserError, match=r"a\.zip"):
        read_archive(tmp_path / "a.zip")


def test_flipped_bytes(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("one.txt", bytes(range(256)) * 4))
    content = bytearray(path.read_bytes())
    content[60] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.zip"):
        read_archive(path)
