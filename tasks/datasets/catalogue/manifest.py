"""The upstream files: where each may be had, and what it must look like on arrival."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

TABLE = Path(__file__).with_name("manifest.tsv")
UNKNOWN = "-"


@dataclass(frozen=True)
class Source:
    """One place of a file; size in bytes and sha256 are None where nobody published them."""

    url: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True)
class UpstreamFile:
    """One file and its places, the preferred one first.

    A set that was repacked upstream has one row for each container; any of them is the file.
    """

    file: str
    sources: tuple[Source, ...]

    @property
    def name(self) -> str:
        """The file's own name, without the manifest's folder."""
        return PurePosixPath(self.file).name

    @property
    def hashes(self) -> frozenset[str]:
        """The accepted sha256 digests; empty where none is published."""
        return frozenset(source.sha256 for source in self.sources if source.sha256)


@cache
def manifest() -> dict[str, UpstreamFile]:
    """All upstream files by their relative path."""
    files: dict[str, UpstreamFile] = {}
    with TABLE.open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            size = None if row["bytes"] == UNKNOWN else int(row["bytes"])
            sha256 = None if row["sha256"] == UNKNOWN else row["sha256"]
            before = files[row["file"]].sources if row["file"] in files else ()
            files[row["file"]] = UpstreamFile(row["file"], (*before, Source(row["url"], size, sha256)))
    return files
