"""A bar in the Prefect UI for a long step."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.context import TaskRunContext


def progress_bar(name: str) -> Callable[[float], None]:
    """A function that takes percentages and shows them as an artifact of the current task run.

    Outside a task run it does nothing; a server that cannot be reached ends the bar and never the step.
    """
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


def artifact_key(name: str) -> str:
    """A name as the key of an artifact, which has lower-case letters, digits and dashes only."""
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
