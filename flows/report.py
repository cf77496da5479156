"""Every result of a profile beside the published figures: ``python -m flows.report [--profile P]``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from flows.context.request import StudyRequest
from flows.results.files import result_files
from flows.studies.registry import STUDIES
from flows.studies.requests import own_datasets, read_request
from flows.system.environment import configure_environment
from flows.system.exit_status import exit_status
from tasks.account.account import Account


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 2 for a mistake, which is one line."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.report", description="every result of a profile beside the published figures"
    )
    parser.add_argument("--profile", default="demo", help="section of params.yaml: demo (default) or paper")
    profile = parser.parse_args(arguments).profile

    def work() -> None:
        configure_environment()
        parameters = read_request(StudyRequest(profile=profile))
        files = result_files(profile, STUDIES)
        private = [Account(own) for own in own_datasets(parameters).values() if own.private]
        # Imported now: matplotlib reads its environment once, when it is first imported.
        from flows.results.report import report

        report(profile, getattr(parameters, profile), STUDIES, files, private)

    return exit_status(work)


if __name__ == "__main__":
    raise SystemExit(main())
