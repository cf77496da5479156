"""How a command ends: with what its work returns, or with one line for a mistake or for what ended it."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tasks.errors import Interrupted, UserError
from tasks.redaction import without_secrets

FAILURE = 1
MISTAKE = 2
INTERRUPTED = 130


def exit_status(work: Callable[[], int | None], interrupted: str = "nothing was written") -> int:
    """Does the work; its status (none is 0), ``MISTAKE``, ``INTERRUPTED``, or ``FAILURE`` if something else ended it.

    One line on stderr tells of these three.

    ``interrupted`` says what may be counted on then.
    """
    try:
        return work() or 0
    except UserError as mistake:
        print(f"error: {without_secrets(str(mistake))}", file=sys.stderr)
        return MISTAKE
    except Interrupted as end:
        print(f"error: {without_secrets(str(end))}; {interrupted}", file=sys.stderr)
        return FAILURE
    except KeyboardInterrupt:
        print(f"interrupted; {interrupted}", file=sys.stderr)
        return INTERRUPTED
