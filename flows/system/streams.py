"""Standard streams that are closed, full, or read by nobody any more."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from typing import TextIO


def open_closed_streams() -> None:
    """Open what the caller closed (``2>&-``) on nothing: the next file that is opened would get its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115 - for as long as the process lives


def say(line: str) -> None:
    """One line on standard error, if anybody listens."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def is_unread(stream: TextIO) -> bool:
    """Whether it is a pipe or a socket that nobody reads any more."""
    waiting = select.poll()
    try:
        waiting.register(stream.fileno(), 0)
    except (OSError, ValueError):
        return False
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in waiting.poll(0))


def discard(stream: TextIO) -> None:
    """Let what it still holds go nowhere, or the interpreter's last words are about it."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
