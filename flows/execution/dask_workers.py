"""Tells when a Dask scheduler has no worker: Dask waits for one without a word, and a run would seem to hang."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import copy_context
from threading import Thread

from tasks.parameters.profiles import Profile

LOOK_SECONDS = 2.0

log = logging.getLogger("pipeline")


@contextmanager
def dask_workers_watched(profile: Profile) -> Iterator[None]:
    """While a run uses a Dask scheduler by address, one line when it has no worker, and one when it has some again.

    The run waits on, since a cluster may start from none. A scheduler that does not answer is left to the run to tell.
    """
    if profile.runner != "dask" or profile.dask_address is None:
        yield
        return
    ended: Future[None] = Future()
    watch = asyncio.run, _watch_until(ended, profile.dask_address)
    # In a flow run's context, its lines are shown in the Prefect UI, too.
    thread = Thread(target=copy_context().run, args=watch, name="dask-workers", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set_result(None)
        thread.join()


async def _watch_until(ended: Future[None], address: str) -> None:
    watching = asyncio.create_task(_watch(address))
    await asyncio.wrap_future(ended)
    watching.cancel()


async def _watch(address: str) -> None:
    from distributed import Security, rpc  # imported on demand: it takes seconds

    waiting = False
    async with rpc(address, connection_args=Security().get_connection_args("client")) as scheduler:
        while True:
            await asyncio.sleep(LOOK_SECONDS)  # at first, too: a run that needs no worker has ended by then
            with suppress(OSError):
                missing = not await scheduler.ncores()
                if missing and not waiting:
                    log.warning(
                        "the Dask scheduler at %s has no worker and the run waits for one; start one with: "
                        "python -m dask worker %s --nthreads 1 --preload flows.dask_worker",
                        address,
                        address,
                    )
                if waiting and not missing:
                    log.info("the Dask scheduler at %s has workers now: the run goes on", address)
                waiting = missing
