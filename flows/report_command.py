"""The report stage's command line: whether there is anything to report shows before pandas and matplotlib are imported.

python -m flows.report [--profile P]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from flows.exit_status import exit_status
from flows.project import data_folder
from flows.request import StudyRequest, read_request
from flows.startup import settle
from tasks.errors import UserError

FIGURES = {
    "node_classification": "solitude",
    "graph_classification": "graphs",
    "ego_clustering": "egos",
    "node_embedding": "embedding",
}
"""The studies in the report's order, and the folders of their figures."""


def result_files(profile: str) -> list[Path]:
    """The rows of a profile's studies, in the report's order.

    Raises:
        UserError: for an unknown profile, and for one that has no results yet.
    """
    read_request(StudyRequest(profile=profile))
    results = data_folder("results", profile)
    files = [file for study in FIGURES for file in sorted(results.glob(f"{study}/*/rows.json"))]
    if not files:
        raise UserError(f"no results below {results}; run `dvc repro` first")
    return files


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0, or 2 for a mistake, which is one line."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.report", description="every result of a profile beside the published figures"
    )
    parser.add_argument("--profile", default="demo", help="section of params.yaml: demo (default) or paper")
    profile = parser.parse_args(arguments).profile

    def work() -> None:
        settle()
        result_files(profile)
        # Imported now: matplotlib reads its environment once, when it is first imported.
        from flows.report import report

        report(profile)

    return exit_status(work)
