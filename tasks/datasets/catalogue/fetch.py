"""Bringing upstream files in: the mirror first, then the publisher, checked before they are named.

A set is held in memory until the size and sha256 of every file fit, then each is written under a temporary name
and renamed, so that no failure leaves a part of a file or of a set behind.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pooch

from tasks.atomic_write import write_atomically
from tasks.datasets.catalogue.arrival import RECORD_SUFFIX, DamagedFile, check_content, is_intact, recorded_hash
from tasks.datasets.catalogue.manifest import UpstreamFile
from tasks.errors import Unavailable, UserError

MIRROR = "GRAPH_DATA_MIRROR"
PAUSES = (0.5, 2.0)  # seconds before the second and the third try
TIMEOUT = (10, 60)  # seconds to connect, and between two packets
WORTH_ANOTHER_TRY = {408, 425, 429}


class Unreachable(Exception):
    """A place that does not give the file; the message says why."""

    def __init__(self, reason: str, *, lasting: bool) -> None:
        super().__init__(reason)
        self.lasting = lasting


@dataclass(frozen=True)
class Place:
    """A URL or a path that should give the file."""

    address: str
    is_mirror: bool


def fetch_files(upstreams: Iterable[UpstreamFile], folder: Path, mirror: str | None = None) -> None:
    """Puts the files into ``folder``, except those that are there and intact: all of them or none.

    Args:
        upstreams: the files, as the manifest describes them.
        folder: where they belong; made when the last one has arrived.
        mirror: folder or base URL to try first; None reads ``GRAPH_DATA_MIRROR``, "" means no mirror.

    Raises:
        Unavailable: when no place gives a file.
        UserError: one line when the mirror's copy is damaged, or nothing can be written.
    """
    place = os.environ.get(MIRROR, "") if mirror is None else mirror
    wanted = [(upstream, folder / upstream.name) for upstream in upstreams]
    arrived = [
        (upstream, target, obtain(upstream, place, recorded_hash(target)))
        for upstream, target in wanted
        if not is_intact(upstream, target)
    ]
    for upstream, target, content in arrived:
        if not upstream.hashes and recorded_hash(target) is None:
            record = f"{check_content(upstream, content)}  {target.name}\n"
            write_atomically(target.with_name(target.name + RECORD_SUFFIX), record)
        write_atomically(target, content)


def obtain(upstream: UpstreamFile, mirror: str, recorded: str | None) -> bytes:
    """The checked content from the first place that gives it.

    A mirror without the file is passed over; a mirror with a damaged copy is an error, for falling back
    silently would hide it.
    """
    failures = []
    for place in places(upstream, mirror.strip()):
        try:
            return read_patiently(place, upstream, recorded)
        except DamagedFile as failure:
            if place.is_mirror:
                raise UserError(f"{place.address}: {failure}; repair the mirror or unset {MIRROR}") from None
            failures.append(f"{place.address}: {failure}")
        except Unreachable as failure:
            failures.append(f"{place.address}: {failure}")
    raise Unavailable(
        f"{upstream.file}: not to be had: {'; '.join(failures)}; check the network, or set {MIRROR} to a folder or"
        f" base URL that holds {upstream.file}"
    )


def places(upstream: UpstreamFile, mirror: str) -> Iterator[Place]:
    """The mirror's copy, then every upstream URL."""
    if "://" in mirror:
        yield Place(f"{mirror.rstrip('/')}/{quote(upstream.file)}", is_mirror=True)
    elif mirror:
        folder = Path(mirror).expanduser()
        if not folder.is_dir():
            raise UserError(f"{MIRROR}: {mirror} is not a folder; name an existing folder or a base URL, or unset it")
        yield Place(str(folder / upstream.file), is_mirror=True)
    for source in upstream.sources:
        yield Place(source.url, is_mirror=False)


def read_patiently(place: Place, upstream: UpstreamFile, recorded: str | None) -> bytes:
    """Reads and checks, trying again after a pause what may pass: lost connections, cut transfers."""
    for pause in PAUSES:
        try:
            return read_checked(place.address, upstream, recorded)
        except (Unreachable, DamagedFile) as failure:
            if "://" not in place.address or getattr(failure, "lasting", False):
                raise
        time.sleep(pause)
    return read_checked(place.address, upstream, recorded)


def read_checked(address: str, upstream: UpstreamFile, recorded: str | None) -> bytes:
    """The bytes at a path or URL, once they are known to be the file."""
    content = read(address)
    check_content(upstream, content, recorded)
    return content


def read(address: str) -> bytes:
    """The bytes at a path or URL.

    Raises:
        Unreachable: when there are none.
    """
    try:
        if "://" not in address:
            return Path(address).read_bytes()
        buffer = io.BytesIO()
        pooch.HTTPDownloader(timeout=TIMEOUT, chunk_size=1 << 16)(address, buffer, None)
        return buffer.getvalue()
    except FileNotFoundError:
        raise Unreachable("no such file", lasting=True) from None
    except (OSError, ValueError) as error:  # requests' exceptions are OSErrors; a malformed URL is a ValueError
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status is None:
            raise Unreachable(f"no answer ({type(error).__name__})", lasting=False) from None
        lasting = 400 <= status < 500 and status not in WORTH_ANOTHER_TRY
        raise Unreachable(f"HTTP {status}", lasting=lasting) from None
