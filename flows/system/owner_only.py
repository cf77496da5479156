"""What a run on private data writes, its owner alone may read: scores, logs and lines are functions of the data."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tasks.errors import UserError

OTHERS = 0o077


def keep_to_owner(places: Iterable[Path]) -> None:
    """Close these folders and files to everybody else, and whatever this process and its children make from now on.

    Raises:
        UserError: when a place is open to others and belongs to somebody else.
    """
    os.umask(OTHERS)
    for place in places:
        try:
            mode = place.stat().st_mode
            if mode & OTHERS:
                place.chmod(mode & ~OTHERS)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UserError(
                f"{place}: others can read it, and it cannot be closed to them ({error.strerror}); results on private "
                "data would lie there: choose a place of your own"
            ) from None
