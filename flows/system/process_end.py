"""How the program and its worker processes end: sooner than the libraries would let them. Why: docs/architecture.md."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from multiprocessing import active_children, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import NoReturn


def leave_quickly() -> None:
    """End this process without a last search for garbage in all that the libraries have made: it takes a second or two.

    It is the first to be registered, so that everybody else's last words come before it.
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def is_program() -> bool:
    """Whether this process runs one of the commands, and so may be ended from any thread."""
    main = sys.modules["__main__"]
    return main.__spec__ is not None and main.__spec__.name.startswith("flows.")


def leave_at_once(status: int) -> NoReturn:
    """End the program here, and its worker processes before they miss it."""
    for worker in active_children():
        worker.kill()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def follow_parent() -> None:
    """Let a worker process end soon after its flow, and when that is killed: its queue alone would keep it waiting."""
    leave_quickly()
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, name="follow-parent", daemon=True).start()
