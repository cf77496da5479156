"""Where a command is asked to write, checked before hours of work are done for it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from tasks.errors import UserError

HELP = "missing folders are made"


def check_places(places: Mapping[str, Path | None], picture: str = "") -> None:
    """Refuse a file that could not be written; folders that are missing are made when it is.

    Args:
        places: by option; None where the option is not given.
        picture: the option that names a picture, which is a PNG file.

    Raises:
        UserError: for a folder in place of a file, a file in place of a folder, a folder that nobody may write into, a
            picture of another kind, or one file for two options.
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
        _check_folder(option, place)


def _check_folder(option: str, place: Path) -> None:
    folder = next(above for above in place.absolute().parents if above.exists())
    if not folder.is_dir():
        raise UserError(f"{option} {place}: {folder} is a file, no folder; choose another place")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise UserError(f"{option} {place}: {folder} cannot be written ({error.strerror}); choose another") from None
