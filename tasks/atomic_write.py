"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from tasks.errors import UserError


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replaces a file (text is written as UTF-8) and makes missing folders.

    Raises:
        UserError: when the place cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}); choose another place") from None


def replace_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Writes beside ``path``, flushes to disk and renames; ``mode`` is what the umask leaves of it."""
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as scratch:
        draft = Path(scratch) / path.name
        draft.touch(mode)
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
