"""Whether a file can be written, asked before anything is computed for it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tasks.errors import UserError


def check_writable(named: str, file: Path) -> None:
    """Refuse a file whose nearest existing folder cannot be written into; ``named`` is what the message begins with.

    Raises:
        UserError: for a file in place of a folder, or a folder that nobody may write into.
    """
    folder = next(above for above in file.absolute().parents if above.exists())
    if not folder.is_dir():
        raise UserError(f"{named}: {folder} is a file, no folder; choose another place")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise UserError(f"{named}: {folder} cannot be written ({error.strerror}); choose another") from None
