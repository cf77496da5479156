"""How a command ends: with what its work returns, or with one line for a mistake or for what ended it."""

from __future__ import annotations

import errno
import signal
import sys
from collections.abc import Callable

from flows.system.streams import discard, is_unread, say
from tasks.errors import Interrupted, UserError
from tasks.redaction import without_secrets

FAILURE = 1
MISTAKE = 2
INTERRUPTED = 130
UNREAD = 128 + signal.SIGPIPE
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def exit_status(work: Callable[[], int | None], interrupted: str = "nothing was written") -> int:
    """Does the work; its status (none is 0), ``MISTAKE``, ``INTERRUPTED``, or ``FAILURE`` if something else ended it.

    One line on stderr tells of these three. ``UNREAD`` without a line where nobody reads the output any more
    (``| head``).

    ``interrupted`` says what may be counted on then.
    """
    try:
        status = work() or 0
        sys.stdout.flush()
        return status
    except UserError as mistake:
        say(f"error: {without_secrets(str(mistake))}")
        return MISTAKE
    except Interrupted as end:
        say(f"error: {without_secrets(str(end))}; {interrupted}")
        return FAILURE
    except KeyboardInterrupt:
        say(f"interrupted; {interrupted}")
        return INTERRUPTED
    except OSError as error:
        unread = isinstance(error, BrokenPipeError) and is_unread(sys.stdout)
        if not unread and error.errno not in FULL:
            raise
        discard(sys.stdout)
        if unread:
            return UNREAD
        say(f"error: {error.filename or 'the output'} cannot be written ({error.strerror}); {interrupted}")
        return MISTAKE
