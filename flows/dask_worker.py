"""Settings of this project for a Dask worker that is started by hand, from the root of a checkout.

No command: Dask's own worker imports it and calls ``dask_setup``.

python -m dask worker tcp://SCHEDULER:8786 --nthreads 1 --preload flows.dask_worker
"""

from __future__ import annotations

import argparse

from flows.system.environment import configure_environment


def dask_setup(worker: object) -> None:
    """Called by Dask in the worker's process, before the first step is unpickled."""
    configure_environment()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m flows.dask_worker", description=__doc__)
    parser.parse_args()
    parser.error("no command: Dask's own loads it, see --help")
