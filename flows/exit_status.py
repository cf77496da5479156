"""How a command ends: with what its work returns, or with one line for a mistake or an interruption."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tasks.errors import UserError
from tasks.redaction import without_secrets

FAILURE = 1
MISTAKE = 2
INTERRUPTED = 130


def exit_status(work: Callable[[], int | None], interrupted: str = "nothing was written") -> int:
    """Does the work; its status (none is 0), ``MISTAKE`` or ``INTERRUPTED``, of which one line on stderr tells.

    ``interrupted`` says what an interrupted user may count on.
    """
    try:
        return work() or 0
    except UserError as mistake:
        print(f"error: {without_secrets(str(mistake))}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        print(f"interrupted; {interrupted}", file=sys.stderr)
        return INTERRUPTED
