"""The command line that all studies share."""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

from flows.context.project import open_store
from flows.context.request import StudyRequest
from flows.execution.dask_address import require_scheduler
from flows.run.sweep_request import add_sweep_options, requested
from flows.server.local_server import leased_server
from flows.server.lost_server import server_lost, watch_server
from flows.studies.registry import declared
from flows.studies.requests import check_request
from flows.system.environment import configure_environment
from flows.system.exit_status import exit_status
from flows.system.log_lines import WithoutSecrets
from flows.system.output_paths import HELP, check_places
from flows.system.process_end import is_program, leave_at_once
from tasks.errors import ServerLost

KEPT = "finished points are kept, the same command goes on from here"


def main(study: str, arguments: Sequence[str] | None = None) -> int:
    """Run a study or a stage from the command line; the exit status: 0, 1 for failed points, 2 for a mistake."""
    chosen = _parser(study).parse_args(arguments)

    def checked() -> Callable[[], int]:
        check_places({"--json": chosen.json})
        name, request = _requested(study, chosen)
        found = check_request(name, request, logging.getLogger("pipeline").warning)
        require_scheduler(found.profile)
        open_store()

        def work() -> int:
            # Imported now: prefect reads the server's address once, when it is first imported.
            from flows.run.run_study import run

            return run(found, chosen.plain, chosen.json)

        return work

    return guarded(checked, chosen.plain, lambda: _import_study(chosen.study if study == "sweep" else study))


def guarded(checked: Callable[[], Callable[[], int]], plain: bool, warm_up: Callable[[], object] = lambda: None) -> int:
    """Do the work with a Prefect server, or plainly without one; mistakes and interrupts become one line and a status.

    ``checked`` refuses what is wrong with the request, before a server starts and with light imports alone, and returns
    the work, which imports what imports prefect. ``warm_up`` is called while a server starts.
    """
    _show_progress()
    lost = False

    def served() -> int:
        nonlocal lost
        configure_environment()
        work = checked()
        try:
            with _server(plain, warm_up) as url:
                if url and is_program():
                    watch_server(url, partial(_lose_server, url))
                return work()
        except ServerLost:
            lost = True
            raise

    status = exit_status(served, KEPT)
    if lost and is_program():
        leave_at_once(status)
    return status


def _lose_server(url: str) -> NoReturn:
    def lost() -> NoReturn:
        raise server_lost(url)

    leave_at_once(exit_status(lost, KEPT))


def _requested(study: str, chosen: argparse.Namespace) -> tuple[str, StudyRequest]:
    datasets = [dataset for group in chosen.dataset for dataset in group]
    shared = {"profile": chosen.profile, "datasets": datasets, "overrides": chosen.set, "export": chosen.export}
    shared["draw_again"] = chosen.draw_again
    if study != "sweep":
        return study, StudyRequest(**shared)
    return chosen.study, requested(chosen.study, chosen, shared)


def _import_study(name: str) -> None:
    import flows.run.run_study  # noqa: F401

    declared(name).flow()


def _parser(study: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m flows.{study}", description=f"The {study} study or stage.")
    parser.add_argument("--profile", default="demo", help="section of params.yaml: demo (default) or paper")
    parser.add_argument(
        "--dataset", action="append", default=[], metavar="D", nargs="+", help="instead of the profile's"
    )
    parser.add_argument(
        "--set", action="extend", default=[], metavar="KEY=JSON", nargs="+", help="override a parameter"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help=f"write all rows as one JSON array; {HELP}")
    parser.add_argument("--plain", action="store_true", help="run without a Prefect server")
    parser.add_argument("--export", action="store_true", help="lay points and tables below data/, for DVC")
    parser.add_argument(
        "--draw-again", action="store_true", help="draw lost reports of private data anew, which charges them again"
    )
    if study == "sweep":
        add_sweep_options(parser)
    return parser


def _show_progress() -> None:
    """The pipeline's own lines on standard error; the libraries' go to the Prefect UI."""
    log = logging.getLogger("pipeline")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(WithoutSecrets("%(message)s"))
    log.handlers = [handler]
    log.setLevel(logging.INFO)
    log.propagate = False


@contextlib.contextmanager
def _server(plain: bool, warm_up: Callable[[], object]) -> Iterator[str | None]:
    if plain:
        yield None
        return
    with leased_server(warm_up=warm_up) as url:
        yield url
