"""The command line that all studies share."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from flows.exit_status import exit_status
from flows.places import HELP, check_places
from flows.server import leased_server
from flows.startup import lighten_workers, settle
from flows.sweep_options import add_sweep_options
from tasks.errors import ServerLost
from tasks.redaction import without_secrets


def main(study: str, arguments: Sequence[str] | None = None) -> int:
    """Run a study or a stage from the command line; the exit status: 0, 1 for failed points, 2 for a mistake."""
    chosen = _parser(study).parse_args(arguments)

    def work() -> int:
        # Imported now: prefect reads the server's address once, when it is first imported.
        from flows.run import run

        return run(study, chosen)

    return guarded(work, chosen.plain, {"--json": chosen.json}, _import_studies)


def guarded(
    work: Callable[[], int],
    plain: bool,
    places: Mapping[str, Path | None] = MappingProxyType({}),
    meanwhile: Callable[[], object] = lambda: None,
) -> int:
    """Do the work with a Prefect server, or plainly without one; mistakes and interrupts become one line and a status.

    ``work`` imports what imports prefect, and writes to ``places``, which are named by their options. ``meanwhile`` is
    called while a server starts.
    """
    _show_progress()
    lost = False

    def served() -> int:
        nonlocal lost
        check_places(places)
        settle()
        lighten_workers()
        try:
            with _server(plain, meanwhile):
                return work()
        except ServerLost:
            lost = True
            raise

    status = exit_status(served, "finished points are kept, the same command goes on from here")
    if lost:
        _leave_at_once(status)
    return status


def _leave_at_once(status: int) -> None:
    """End the program here: Prefect would try for many minutes to send a lost server what it has queued."""
    main = sys.modules["__main__"]
    if main.__spec__ and main.__spec__.name.startswith("flows."):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _import_studies() -> None:
    import flows.run  # noqa: F401


def _parser(study: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m flows.{study}", description=f"The {study} study or stage.")
    parser.add_argument("--profile", default="demo", help="section of params.yaml: demo (default) or paper")
    parser.add_argument(
        "--dataset", action="append", default=[], metavar="D", nargs="+", help="instead of the profile's"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=JSON", help="override a parameter")
    parser.add_argument("--json", type=Path, metavar="FILE", help=f"write all rows as one JSON array; {HELP}")
    parser.add_argument("--plain", action="store_true", help="run without a Prefect server")
    parser.add_argument("--export", action="store_true", help="lay points and tables below data/, for DVC")
    if study == "sweep":
        add_sweep_options(parser)
    return parser


class WithoutSecrets(logging.Formatter):
    """A formatter that masks passwords and keys."""

    def format(self, record: logging.LogRecord) -> str:
        """See ``logging.Formatter``."""
        return without_secrets(super().format(record))


def _show_progress() -> None:
    """The pipeline's own lines on standard error; the libraries' go to the Prefect UI."""
    log = logging.getLogger("pipeline")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(WithoutSecrets("%(message)s"))
    log.handlers = [handler]
    log.setLevel(logging.INFO)
    log.propagate = False


@contextlib.contextmanager
def _server(plain: bool, meanwhile: Callable[[], object]) -> Iterator[None]:
    if plain:
        yield
        return
    with leased_server(meanwhile=meanwhile):
        yield
