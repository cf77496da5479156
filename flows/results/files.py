"""Where a profile's results are, for the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flows.context.declaration import StudyDeclaration
from flows.context.project import data_folder
from tasks.errors import UserError


def result_files(profile: str, studies: Sequence[StudyDeclaration]) -> list[Path]:
    """The rows of a profile's studies, in their order.

    Raises:
        UserError: for a profile that has no results yet.
    """
    results = data_folder("results", profile)
    files = [file for study in studies for file in sorted(results.glob(f"{study.name}/*/rows.json"))]
    if not files:
        raise UserError(f"no results below {results}; run `dvc repro` first")
    return files
