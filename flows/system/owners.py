"""Who logs a run, so that a later start can tell whether it still does."""

from __future__ import annotations

import socket

from flows.system.processes import Process


def this_process() -> str:
    """This machine and process, in one word each."""
    return f"{socket.gethostname()} {Process.current()}"


def is_dead(owner: str) -> bool:
    """Whether it was a process of this machine that is gone; what runs elsewhere cannot be asked."""
    host, _, process = owner.partition(" ")
    if host != socket.gethostname():
        return False
    try:
        return not Process.parse(process).alive()
    except ValueError:
        return False
