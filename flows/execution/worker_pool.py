"""Prefect's process pool, less what each task would pay for again: a client, and all of Prefect's settings."""

from __future__ import annotations

import contextlib
from typing import Any

import httpx
from prefect.context import SettingsContext, SyncClientContext
from prefect.task_runners import ProcessPoolTaskRunner

from flows.system.process_end import follow_parent


class WorkerPool(ProcessPoolTaskRunner):
    """Worker processes that have the flow's settings by their environment, and one client for all their tasks."""

    def __init__(self, max_workers: int | None = None) -> None:
        super().__init__(max_workers=max_workers, initializer=prepare_worker)

    def submit(self, *arguments: Any, **named: Any) -> Any:
        """See ``ProcessPoolTaskRunner``."""
        current = SettingsContext.get()
        assert current is not None
        with InheritedSettings(profile=current.profile, settings=current.settings):
            return super().submit(*arguments, **named)


class InheritedSettings(SettingsContext):
    """Settings that are not sent along: writing, reading and checking them takes some 70 ms of a processor."""

    def serialize(self, include_secrets: bool = True) -> dict[str, Any]:
        """Nothing, which leaves the worker with its own."""
        return {}


def prepare_worker() -> None:
    """End with the flow; keep one client: a new one reads all certificate authorities, 20 ms and twice a task."""
    follow_parent()
    with contextlib.suppress(httpx.HTTPError):  # then each task makes its own, and says what it meets
        SyncClientContext().__enter__()  # for as long as the process lives
