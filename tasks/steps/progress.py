"""Lines on the progress of a long step, and a bar in the Prefect UI."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol

from tasks.steps.progress_bar import progress_bar

log = logging.getLogger("pipeline")


class Progress(Protocol):
    """Told how many are done, and how many of these an earlier run had done, which says nothing about the speed."""

    def __call__(self, done: int, found: int = 0) -> None:
        """So many are done by now."""


def occasionally(name: str, total: int, unit: str, seconds: float = 30.0) -> Progress:
    """Tells how many of ``total`` are done and how long the rest may take, at most once in so many seconds."""
    started = last = time.monotonic()
    show = progress_bar(name)

    def progress(done: int, found: int = 0) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= seconds and done > found:
            last = now
            left = (now - started) * (total - done) / (done - found)
            log.info("%s: %s of %s %s, about %.0f s left", name, f"{done:,}", f"{total:,}", unit, left)
            show(100 * done / total)

    return progress


def adding_up(progress: Progress) -> Callable[[int], None]:
    """For work that tells how much it has just done."""
    total = 0

    def add(done: int) -> None:
        nonlocal total
        total += done
        progress(total)

    return add
