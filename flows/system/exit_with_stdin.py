"""Run a module as a program for as long as standard input stays open.

``python -m flows.system.exit_with_stdin MODULE [ARGUMENT ...]``.
The supervisor holds the other end of the pipe. However it ends, kill -9 included, the system closes that end, so the
server never outlives it.
"""

from __future__ import annotations

import os
import runpy  # noqa: TID251 - the command is one of ours
import signal
import sys
import threading
import time

GRACE_SECONDS = 5.0


def main(arguments: list[str]) -> None:
    """Run the module named first, with the rest as its arguments."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


def _end_with_input() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
