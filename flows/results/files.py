"""Where a profile's results are, for the report."""

from __future__ import annotations

from pathlib import Path

from flows.context.project import data_folder
from flows.context.request import StudyRequest, read_request
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
