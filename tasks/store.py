"""The point store: the pipeline's only cache, one folder per digest of what made it.

A point is computed into a temporary folder, described by ``meta.json`` (its key and the sha256 of every
file), flushed to disk and renamed; so a point exists whole or not at all. A hit verifies every file. A lock
per digest keeps two flows from computing one point twice. Points that DVC pulled below ``data/`` are taken
over by hard link instead of being computed again.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from filelock import FileLock, Timeout

from tasks.errors import UserError

META = "meta.json"
DIGEST_LENGTH = 24
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
DENIED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENOENT})


class DamagedPoint(Exception):
    """A stored point that does not match its own description."""


@dataclass(frozen=True)
class PointRef:
    """A small, picklable reference to a stored point.

    Attributes:
        digest: digest of the key, the folder's name.
        folder: where the files lie.
        content: digest of the files' contents; what later points are keyed by.
        cached: whether this call found the point instead of computing it.
        seconds: time the computation took, 0 for a hit.
        remark: what was wrong with the stored point, when it had to be computed again.
    """

    digest: str
    folder: Path
    content: str
    cached: bool
    seconds: float
    remark: str = ""

    def file(self, name: str) -> Path:
        """Path of one of the point's files."""
        return self.folder / name


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def file_sha256(path: Path) -> str:
    """Hex sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class PointStore:
    """Points below ``root``; ``exports`` are folders where DVC may have laid points of its own.

    Raises:
        UserError: when ``root`` cannot be created or written.
    """

    def __init__(self, root: Path, exports: tuple[Path, ...] = ()) -> None:
        self.root = root
        self.exports = exports
        with self._io():
            for part in ("points", "locks", "temporary"):
                (root / part).mkdir(parents=True, exist_ok=True)
            probe = root / "temporary" / f"probe.{os.getpid()}.{secrets.token_hex(4)}"
            probe.touch()
            probe.unlink()

    def point(
        self, key: Mapping[str, object], compute: Callable[[Path], None], *, label: str, private: bool = False
    ) -> PointRef:
        """The point of ``key``, computed by ``compute(folder)`` unless it is stored already.

        A ``private`` point depends on private raw data: its digest is an HMAC under a secret of this store and
        its description does not repeat the key, so neither lets anyone test a guess of the data.
        """
        digest = self._digest(key, private)
        folder = self.root / "points" / digest
        with self._lock(digest):
            with self._io():
                content, remark = self._stored(folder)
                content = content or self._adopted(digest, folder)
            if content is not None:
                return PointRef(digest, folder, content, cached=True, seconds=0.0, remark=remark)
            started = time.perf_counter()
            content = self._compute(folder, None if private else key, compute, label)
            return PointRef(digest, folder, content, cached=False, seconds=time.perf_counter() - started, remark=remark)

    def sweep_leftovers(self) -> int:
        """Remove the temporary folders of killed runs; a folder whose point is being computed is left alone."""
        removed = 0
        for leftover in (self.root / "temporary").iterdir():
            lock = FileLock(self._lock_path(leftover.name.split(".")[0]))
            try:
                with lock.acquire(timeout=0):
                    shutil.rmtree(leftover, ignore_errors=True)
                    removed += 1
            except Timeout:
                continue
        return removed

    def export(self, refs: list[PointRef], folder: Path) -> None:
        """Make ``folder`` hold exactly these points, by hard link (a copy across file systems)."""
        with self._io():
            folder.mkdir(parents=True, exist_ok=True)
            wanted = {ref.digest for ref in refs}
            for entry in folder.iterdir():
                if entry.is_dir() and entry.name not in wanted:
                    shutil.rmtree(entry)
            for ref in {ref.digest: ref for ref in refs}.values():
                target = folder / ref.digest
                if target.exists():
                    if self._matches(target, ref.content):
                        continue
                    shutil.rmtree(target)
                _link_tree(ref.folder, target)

    def _digest(self, key: Mapping[str, object], private: bool) -> str:
        message = canonical_json(key).encode()
        if private:
            return hmac.new(self.secret(), message, "sha256").hexdigest()[:DIGEST_LENGTH]
        return hashlib.sha256(message).hexdigest()[:DIGEST_LENGTH]

    def secret(self) -> bytes:
        """This store's own secret, drawn once from the operating system's entropy and never exported."""
        path = self.root / "secret"
        with FileLock(self._lock_path("secret")):
            if not path.exists():
                draft = path.with_suffix(".draft")
                draft.touch(mode=0o600)
                draft.write_bytes(secrets.token_bytes(32))
                draft.replace(path)
            return path.read_bytes()

    def _lock_path(self, digest: str) -> Path:
        return self.root / "locks" / f"{digest}.lock"

    def _lock(self, digest: str) -> FileLock:
        return FileLock(self._lock_path(digest))

    def _stored(self, folder: Path) -> tuple[str | None, str]:
        if not folder.exists():
            return None, ""
        try:
            return verify(folder), ""
        except DamagedPoint as damage:
            shutil.rmtree(folder)
            return None, f"stored point {folder.name} was damaged: {damage}"

    def _adopted(self, digest: str, folder: Path) -> str | None:
        exported = self._exported.get(digest)
        if exported is None:
            return None
        try:
            content = verify(exported)
        except DamagedPoint:
            return None
        draft = self.root / "temporary" / f"{digest}.{secrets.token_hex(4)}"
        _link_tree(exported, draft)
        draft.rename(folder)
        return content

    @cached_property
    def _exported(self) -> dict[str, Path]:
        return {meta.parent.name: meta.parent for place in self.exports for meta in sorted(place.rglob(META))}

    def _compute(
        self, folder: Path, key: Mapping[str, object] | None, compute: Callable[[Path], None], label: str
    ) -> str:
        draft = self.root / "temporary" / f"{folder.name}.{secrets.token_hex(4)}"
        with self._io():
            draft.mkdir()
        try:
            with self._io(errors=FULL):
                compute(draft)
            with self._io():
                content = _describe(draft, key, label)
                draft.rename(folder)
                _flush(folder.parent)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return content

    def _matches(self, folder: Path, content: str) -> bool:
        try:
            return verify(folder) == content
        except DamagedPoint:
            return False

    @contextmanager
    def _io(self, errors: frozenset[int] | None = None) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in (FULL | DENIED if errors is None else errors):
                raise
            full = error.errno in FULL
            reason = "the disk is full" if full else "it cannot be written"
            remedy = (
                "free some space or set POINT_STORE to another disk"
                if full
                else "set POINT_STORE to a folder you may write"
            )
            raise UserError(f"point store {self.root}: {reason} ({error.strerror}); {remedy}") from error


def verify(folder: Path) -> str:
    """Content digest of a stored point, after checking every file against its description.

    Raises:
        DamagedPoint: when a file is missing, extra or changed, or the description is unreadable.
    """
    try:
        files = json.loads((folder / META).read_text())["files"]
    except (OSError, ValueError, KeyError, TypeError):
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


def _describe(draft: Path, key: Mapping[str, object] | None, label: str) -> str:
    files = {}
    for path in sorted(path for path in draft.rglob("*") if path.is_file()):
        files[str(path.relative_to(draft))] = file_sha256(path)
        _flush(path)
    meta = draft / META
    meta.write_text(json.dumps({"label": label, "key": key, "files": files}, sort_keys=True, indent=1) + "\n")
    _flush(meta)
    _flush(draft)
    return content_digest(files)


def _link_tree(source: Path, target: Path) -> None:
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


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
