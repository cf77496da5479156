"""Lines on the progress of a long step."""

from __future__ import annotations

import logging
import time
from typing import Protocol

log = logging.getLogger("pipeline")


class Progress(Protocol):
    """Told how many are done, and how many of these an earlier run had done, which says nothing about the speed."""

    def __call__(self, done: int, found: int = 0) -> None:
        """So many are done by now."""


def occasionally(name: str, total: int, unit: str, seconds: float = 30.0) -> Progress:
    """Logs how many of ``total`` are done and how long the rest may take, at most once in so many seconds."""
    started = last = time.monotonic()

    def progress(done: int, found: int = 0) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= seconds and done > found:
            last = now
            left = (now - started) * (total - done) / (done - found)
            log.info("%s: %s of %s %s, about %.0f s left", name, f"{done:,}", f"{total:,}", unit, left)

    return progress
