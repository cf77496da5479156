"""One point's folder: ``meta.json`` describes every file by its sha256, so damage shows."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

META = "meta.json"


class DamagedPoint(Exception):
    """A stored point that does not match its own description."""


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def file_sha256(path: Path) -> str:
    """Hex sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def verify(folder: Path) -> str:
    """Content digest of a stored point, after checking every file against its description.

    Raises:
        DamagedPoint: when a file is missing, extra or changed, or the description is unreadable.
    """
    try:
        files = dict(json.loads((folder / META).read_text())["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise DamagedPoint(f"{META} is unreadable") from None
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {META}
    if found != set(files):
        raise DamagedPoint(f"its files differ from {META}")
    for name, expected in files.items():
        if file_sha256(folder / name) != expected:
            raise DamagedPoint(f"{name} has changed")
    return content_digest(files)


def content_digest(files: Mapping[str, str]) -> str:
    """One digest over the names and sha256 of a point's files."""
    return hashlib.sha256(canonical_json(dict(files)).encode()).hexdigest()


def describe(draft: Path, key: Mapping[str, object] | None, label: str) -> str:
    """Describe the files of ``draft`` beside them, flush all to disk, and return the content digest."""
    files = {}
    for path in sorted(path for path in draft.rglob("*") if path.is_file()):
        files[str(path.relative_to(draft))] = file_sha256(path)
        flush(path)
    meta = draft / META
    meta.write_text(json.dumps({"label": label, "key": key, "files": files}, sort_keys=True, indent=1) + "\n")
    flush(meta)
    flush(draft)
    return content_digest(files)


def matches(folder: Path, content: str) -> bool:
    """Whether ``folder`` is a sound point of this content."""
    try:
        return verify(folder) == content
    except DamagedPoint:
        return False


def remove(path: Path) -> None:
    """Remove a file, a link or a whole folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def link_tree(source: Path, target: Path) -> None:
    """Lay ``source`` out again at ``target`` by hard links, or by copies across file systems."""
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir(parents=True, exist_ok=True)
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
            copy.hardlink_to(path)
        except OSError:
            shutil.copyfile(path, copy)


def is_private(folder: Path) -> bool:
    """Whether a stored point is of private raw data: its description does not repeat the key."""
    return json.loads((folder / META).read_text())["key"] is None


def keep_to_owner(folder: Path) -> None:
    """Let nobody but the owner read a point, whatever the umask was when it was written."""
    for path in [folder, *folder.rglob("*")]:
        if path.stat().st_mode & 0o077:
            path.chmod(0o700 if path.is_dir() else 0o600)


def flush(path: Path) -> None:
    """Bring a file, or a folder's entries, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
