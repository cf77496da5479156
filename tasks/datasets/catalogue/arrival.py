"""Is a file the one that its publisher described? Size and sha256, before anything reads it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tasks.datasets.catalogue.manifest import UpstreamFile

RECORD_SUFFIX = ".sha256"


class DamagedFile(Exception):
    """Bytes that are not the published file; the message says in what way."""


def check_content(upstream: UpstreamFile, content: bytes, recorded: str | None = None) -> str:
    """The sha256 of the content, which must be one of the published ones.

    Where none is published, it must be the one ``recorded`` at the first download, if any.

    Raises:
        DamagedFile: for a truncated or other file.
    """
    digest = hashlib.sha256(content).hexdigest()
    accepted = upstream.hashes or ({recorded} if recorded else set())
    if digest in accepted:
        return digest
    sizes = {source.size for source in upstream.sources if source.size is not None}
    if not content or (sizes and len(content) < min(sizes)):
        wanted = f"{min(sizes)} bytes" if sizes else "a file"
        raise DamagedFile(f"truncated ({len(content)} bytes instead of {wanted})")
    if recorded and not upstream.hashes:
        raise DamagedFile(f"not the file of the first download; delete {upstream.name}{RECORD_SUFFIX} to accept it")
    if accepted:
        raise DamagedFile(f"wrong sha256 ({digest[:12]}... instead of {min(accepted)[:12]}...)")
    return digest


def recorded_hash(target: Path) -> str | None:
    """The sha256 noted beside a file that has no published one, or None."""
    record = target.with_name(target.name + RECORD_SUFFIX)
    words = record.read_text(encoding="utf-8", errors="replace").split() if record.is_file() else []
    return words[0] if words else None


def is_intact(upstream: UpstreamFile, target: Path) -> bool:
    """True when the file is there and is the published (or recorded) one."""
    if not target.is_file() or not (upstream.hashes or recorded_hash(target)):
        return False
    try:
        check_content(upstream, target.read_bytes(), recorded_hash(target))
    except DamagedFile:
        return False
    return True
