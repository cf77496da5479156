"""Where a command is asked to write, checked before hours of work are done for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from flows.system.environment import PACKAGE_ROOT
from flows.system.writable import check_writable
from tasks.errors import UserError

HELP = "missing folders are made"
READ = (".git", ".dvc", "benchmarks", "data/raw", "data/noisy", "data/reference", "flows", "paper", "tasks", "tests")
"""The checkout's folders that no command writes into where it is asked to."""
RESULTS = (".csv", ".json", ".png")
STAGES = ("data", "results", "PROFILE", "STUDY")
"""Folders as deep as this one are outputs of DVC's stages, and inputs of others."""


def check_places(places: Mapping[str, Path | None], picture: str = "") -> None:
    """Refuse a file that could not be written; folders that are missing are made when it is.

    Args:
        places: by option; None where the option is not given.
        picture: the option that names a picture, which is a PNG file.

    Raises:
        UserError: for a folder in place of a file, a file in place of a folder, a folder that nobody may write into, a
            picture of another kind, one file for two options, or a file that this project reads.
    """
    taken: dict[Path, str] = {}
    for option, place in places.items():
        if place is None:
            continue
        if place.is_dir():
            raise UserError(f"{option} {place} is a folder; name a file")
        if option == picture and place.suffix != ".png":
            raise UserError(f"{option} {place}: pictures are PNG files; name a .png file")
        other = taken.setdefault(place.absolute(), option)
        if other != option:
            raise UserError(f"{option} {place} is where {other} goes; name another file")
        if _is_read(place.resolve()):
            raise UserError(f"{option} {place} is an input of this project; name another file")
        check_writable(f"{option} {place}", place)


def _is_read(place: Path) -> bool:
    if place.exists() and any(file.exists() and place.samefile(file) for file in _own_files()):
        return True
    if not place.is_relative_to(PACKAGE_ROOT):
        return False
    inside = place.relative_to(PACKAGE_ROOT)
    if any(inside.is_relative_to(folder) for folder in READ):
        return True
    if len(inside.parts) == 1:
        return place.exists() and place.suffix not in RESULTS
    return inside.parts[:2] == STAGES[:2] and len(inside.parts) > len(STAGES)


def _own_files() -> Iterator[Path]:
    """The files of the data sets that params.yaml declares; what is wrong with it is said elsewhere."""
    try:
        declared = yaml.safe_load((PACKAGE_ROOT / "params.yaml").read_text(encoding="utf-8"))["datasets"]
        parts = [declared[name].get(part) for name in declared for part in ("edges", "features", "labels")]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError, RecursionError):
        return
    yield from (PACKAGE_ROOT / part for part in parts if isinstance(part, str))
