"""Lines on the progress of a long step, and a bar in the Prefect UI."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any, Protocol

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.context import TaskRunContext

log = logging.getLogger("pipeline")


class Progress(Protocol):
    """Told how many are done, and how many of these an earlier run had done, which says nothing about the speed."""

    def __call__(self, done: int, found: int = 0) -> None:
        """So many are done by now."""


def occasionally(name: str, total: int, unit: str, seconds: float = 30.0) -> Progress:
    """Tells how many of ``total`` are done and how long the rest may take, at most once in so many seconds."""
    started, due = time.monotonic(), every(seconds)
    show = progress_bar(name)

    def progress(done: int, found: int = 0) -> None:
        if done > found and due():
            left = (time.monotonic() - started) * (total - done) / (done - found)
            log.info("%s: %s of %s %s, about %.0f s left", name, f"{done:,}", f"{total:,}", unit, left)
            show(100 * done / total)

    return progress


def every(seconds: float) -> Callable[[], bool]:
    """A function that is true at most once in so many seconds."""
    last = time.monotonic()

    def due() -> bool:
        nonlocal last
        now = time.monotonic()
        if now - last < seconds:
            return False
        last = now
        return True

    return due


def adding_up(progress: Progress) -> Callable[[int], None]:
    """For work that tells how much it has just done."""
    total = 0

    def add(done: int) -> None:
        nonlocal total
        total += done
        progress(total)

    return add


def progress_bar(name: str) -> Callable[[float], None]:
    """A function that takes percentages and shows them as an artifact of the current task run.

    Outside a task run it does nothing; a server that cannot be reached ends the bar and never the step.
    """
    if _elsewhere is not None:
        return partial(_elsewhere, name)
    if TaskRunContext.get() is None:
        return lambda percent: None
    # Libraries report from threads of their own, which do not know the task run.
    context = copy_context()
    artifact: Any = None
    usable = True

    def show(percent: float) -> None:
        nonlocal artifact, usable
        if not usable:
            return
        try:
            if artifact is None:
                artifact = context.copy().run(create_progress_artifact, percent, artifact_key(name), name)
            else:
                context.copy().run(update_progress_artifact, artifact, percent)
        except Exception:  # whatever the client raises, the numbers are worth more than the bar
            usable = False

    return show


def show_elsewhere(show: Callable[[str, float], None]) -> None:
    """Let the bars of this process, by their names, be shown by another one."""
    global _elsewhere
    _elsewhere = show


_elsewhere: Callable[[str, float], None] | None = None


def artifact_key(name: str) -> str:
    """A name as the key of an artifact, which has lower-case letters, digits and dashes only."""
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
