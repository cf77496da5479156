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
import os
import secrets
import shutil
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from filelock import FileLock, Timeout

from tasks.atomic_write import replace_file
from tasks.errors import UserError
from tasks.point_folder import (
    META,
    DamagedPoint,
    canonical_json,
    describe,
    flush,
    is_private,
    keep_to_owner,
    link_tree,
    matches,
    remove,
    verify,
)

DIGEST_LENGTH = 24
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
NO_PLACE = frozenset({errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOENT, errno.ELOOP, errno.ENAMETOOLONG})
CLIENTS, CURATOR = "clients", "curator"
DENIED = NO_PLACE | {errno.EACCES, errno.EPERM, errno.EROFS}


class PrivateFailure(Exception):
    """A point of private raw data failed otherwise than by a user's mistake.

    Only the kind of the error and where it happened are told: its text, and the errors it came from, may quote the
    data, and end up in logs.
    """


@dataclass(frozen=True)
class PointRef:
    """A small, picklable reference to a stored point.

    Attributes:
        digest: digest of the key, the folder's name.
        folder: where the files lie.
        content: digest of the files' contents; what later points are keyed by.
        cached: whether this call found the point instead of computing it.
        seconds: time the computation took, 0 for a hit.
        raw: whether it is private, and under no guarantee: what is made of it is private, too.
        remark: what was wrong with the stored point, when it had to be computed again.
        side: of a private set, whose it is: ``CLIENTS`` for what is made of raw data, ``CURATOR`` for reports and what
            is made of them.
    """

    digest: str
    folder: Path
    content: str
    cached: bool
    seconds: float
    raw: bool
    remark: str = ""
    side: str = ""

    def file(self, name: str) -> Path:
        """Path of one of the point's files."""
        return self.folder / name


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
            probe.unlink(missing_ok=True)  # another process may have swept it

    def point(
        self, key: Mapping[str, object], compute: Callable[[Path], None], *, label: str, private: bool = False
    ) -> PointRef:
        """The point of ``key``, computed by ``compute(folder)`` unless it is stored already.

        A ``private`` point depends on private raw data: its digest is an HMAC under a secret of this store and
        its description does not repeat the key, so neither lets anyone test a guess of the data; and its owner alone
        may read it.

        Raises:
            PrivateFailure: in place of whatever ``compute`` raises, but for a ``UserError``, when the point is private.
        """
        digest = self._digest(key, private)
        folder = self.root / "points" / digest
        with self._locked(digest):
            with self._io():
                content, remark = self._stored(folder)
                content = content or self._adopted(digest, folder)
                if private and content is not None:
                    keep_to_owner(folder)
            if content is not None:
                return PointRef(digest, folder, content, cached=True, seconds=0.0, raw=private, remark=remark)
            started = time.perf_counter()
            content = self._compute(folder, None if private else key, compute, label, private)
            seconds = time.perf_counter() - started
            return PointRef(digest, folder, content, cached=False, seconds=seconds, raw=private, remark=remark)

    def permit(self, label: str) -> None:
        """Called before anything is computed; a store that computes nothing refuses here."""

    def holds(self, key: Mapping[str, object], *, private: bool = False) -> bool:
        """Whether ``key``'s point is here or exported; its files are verified when it is asked for."""
        digest = self._digest(key, private)
        return (self.root / "points" / digest).exists() or digest in self._exported

    def discard(self, ref: PointRef) -> None:
        """Remove a point that was a means to another one, which is stored by now."""
        with self._locked(ref.digest), self._io():
            remove(self.root / "points" / ref.digest)

    def sweep_leftovers(self) -> int:
        """Remove the temporary folders of killed runs; a folder whose point is being computed is left alone."""
        removed = 0
        with self._io():
            for leftover in (self.root / "temporary").iterdir():
                if not leftover.is_dir():
                    leftover.unlink(missing_ok=True)  # a probe
                    continue
                try:
                    with FileLock(self._lock_path(leftover.name.split(".")[0]), timeout=0):
                        removed += leftover.exists()  # unless it became a point meanwhile
                        shutil.rmtree(leftover, ignore_errors=True)
                except Timeout:
                    continue
        return removed

    def export(self, refs: list[PointRef], folder: Path) -> None:
        """Make ``folder`` hold exactly these points, by hard link (a copy across file systems).

        Raises:
            UserError: when ``folder`` cannot be written, and for a private point, before anything is.
        """
        if private := [ref.digest for ref in refs if is_private(ref.folder)]:
            raise UserError(f"point {private[0]} is private and stays in the store; export public data sets alone")
        wanted = {ref.digest: ref for ref in refs}
        with io_errors(f"export to {folder}", "choose a place that you may write"):
            folder.mkdir(parents=True, exist_ok=True)
            for entry in folder.iterdir():
                ref = wanted.get(entry.name)
                if ref is None or not matches(entry, ref.content):
                    remove(entry)
                else:
                    del wanted[entry.name]
            for ref in wanted.values():
                link_tree(ref.folder, folder / ref.digest)

    def _digest(self, key: Mapping[str, object], private: bool) -> str:
        message = canonical_json(key).encode()
        if private:
            return hmac.new(self.secret(), message, "sha256").hexdigest()[:DIGEST_LENGTH]
        return hashlib.sha256(message).hexdigest()[:DIGEST_LENGTH]

    def secret(self) -> bytes:
        """This store's own secret, drawn once from the operating system's entropy and never exported."""
        path = self.root / "secret"
        with self._io(), self._lock("secret"):
            if not path.exists():
                replace_file(path, secrets.token_bytes(32), mode=0o600)
            return path.read_bytes()

    def _lock_path(self, digest: str) -> Path:
        return self.root / "locks" / f"{digest}.lock"

    def _lock(self, digest: str) -> FileLock:
        return FileLock(self._lock_path(digest))

    @contextmanager
    def _locked(self, digest: str) -> Iterator[None]:
        lock = self._lock(digest)
        with self._io():
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _stored(self, folder: Path) -> tuple[str | None, str]:
        if not folder.exists():
            return None, ""
        try:
            return verify(folder), ""
        except DamagedPoint as damage:
            remove(folder)
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
        link_tree(exported, draft)
        draft.rename(folder)
        return content

    @cached_property
    def _exported(self) -> dict[str, Path]:
        return {meta.parent.name: meta.parent for place in self.exports for meta in sorted(place.rglob(META))}

    def _compute(
        self,
        folder: Path,
        key: Mapping[str, object] | None,
        compute: Callable[[Path], None],
        label: str,
        private: bool,
    ) -> str:
        self.permit(label)
        draft = self.root / "temporary" / f"{folder.name}.{secrets.token_hex(4)}"
        with self._io():
            draft.mkdir(mode=0o700 if private else 0o777)
        try:
            with self._io(errors=FULL):
                if private:
                    withheld(compute, draft, label)
                else:
                    compute(draft)
            with self._io():
                content = describe(draft, key, label)
                if private:
                    keep_to_owner(draft)
                draft.rename(folder)
                flush(folder.parent)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return content

    def _io(self, errors: frozenset[int] = FULL | DENIED) -> AbstractContextManager[None]:
        return io_errors(f"point store {self.root}", "set POINT_STORE to a folder you may write", errors)


@contextmanager
def io_errors(place: str, remedy: str, errors: frozenset[int] = FULL | DENIED) -> Iterator[None]:
    """Turn errors of a file system that a user can mend into one line that names the place and the remedy."""
    try:
        yield
    except OSError as error:
        if error.errno not in errors:
            raise
        if error.errno in FULL:
            problem = f"the disk is full ({error.strerror}); free some space or set POINT_STORE to another disk"
        else:
            problem = f"it cannot be written ({error.strerror}); {remedy}"
        raise UserError(f"{place}: {problem}") from error


def withheld(compute: Callable[[Path], object], draft: Path, label: str) -> None:
    """Compute on private data, and tell of an error no more than its kind and place (``PrivateFailure``)."""
    try:
        compute(draft)
        return
    except (UserError, PrivateFailure):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise
        steps = traceback.extract_tb(error.__traceback__)
        ours = [step for step in steps if Path(step.filename).is_relative_to(Path(__file__).parent)]
        what = f"{type(error).__name__} at {Path(ours[-1].filename).name}:{ours[-1].lineno}"
    # Raised anew out here, so that it is chained to nothing.
    raise PrivateFailure(f"{label}: {what}; its text is withheld, for the data are private")
