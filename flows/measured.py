"""A study's results as small files to keep in the repository: tables, figures, and where they came from.

python -m flows.measured FOLDER ROWS.json ... [--profile P] [--set KEY=JSON ...] [--minutes M]

Of ego graphs give the rows that --export wrote: the maps for figure 2 lie beside them.

The parameters that are kept beside the tables are checked against the rows: no line more, no line or repeat less. What
rows do not show, the seed and the searches, is taken as given.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path

from flows.context.coverage import check_coverage
from flows.context.request import StudyRequest
from flows.studies.registry import declared
from flows.studies.requests import read_request
from flows.system.environment import configure_environment
from flows.system.exit_status import exit_status
from tasks.atomic_write import write_atomically
from tasks.datasets.catalogue.ego_names import whole_of
from tasks.datasets.catalogue.manifest import manifest
from tasks.datasets.catalogue.public import public_dataset
from tasks.errors import UserError
from tasks.evaluation.tables.rows import Row, read_rows
from tasks.parameters.profiles import Profile


def keep(folder: Path, files: Sequence[Path], request: StudyRequest, minutes: float | None) -> None:
    """Writes ``table.csv`` (beside the published figures), the study's own tables and figures, ``provenance.json``.

    Rows that several files share are taken once.

    Raises:
        UserError: when the files hold no row, rows of two studies, two values for one point, or lines other than
            those of the request's grid, or rows of a data set that is not public.
    """
    rows = _distinct([row for file in files for row in read_rows(file)])
    studies = sorted({row.study for row in rows})
    if len(studies) != 1:
        raise UserError(f"{', '.join(map(str, files))}: rows of one study are needed, found {studies or 'none'}")
    (study,) = studies
    profile: Profile = getattr(read_request(request), request.profile)
    declaration = declared(study)
    check_coverage(rows, declaration, profile)
    datasets = sorted({row.dataset for row in rows})
    wholes = sorted({whole_of(name) for name in datasets})
    for name in wholes:
        _require_public(name)
    configure_environment()
    # Imported now: matplotlib reads its environment once, when it is first imported.
    from flows.context.exports import DIGITS
    from flows.results.provenance import provenance
    from tasks.datasets.catalogue.readers import READERS
    from tasks.evaluation.tables.reference import beside
    from tasks.evaluation.tables.summary import summary, write_csv

    data = {name: {file: sorted(manifest()[file].hashes) for file in READERS[name].files} for name in wholes}
    assert declaration.outputs is not None  # a study with rows has some
    outputs = declaration.outputs()
    compared = beside(summary(rows), outputs.published())
    write_csv(folder / "table.csv", compared.round(DIGITS))
    outputs.write_tables(compared, folder)
    outputs.draw(compared, folder, None, files)
    parameters = profile.model_dump(include={"seed", "repeats", study})
    parameters[study] |= {"datasets": wholes}
    record = {
        "study": study,
        "data": data,
        "profile": request.profile,
        "overrides": list(request.overrides),
        "parameters": parameters,
        "minutes": minutes,
        # Not of the runs, which may have been several: the rows do not tell.
        "written": provenance(),
    }
    write_atomically(folder / "provenance.json", json.dumps(record, indent=1) + "\n")


def _require_public(name: str) -> None:
    try:
        public_dataset(name)
    except UserError:
        raise UserError(
            f"data set {name!r} is not public; results are kept with the code for public ones alone"
        ) from None


def _distinct(rows: list[Row]) -> list[Row]:
    found = {(row.dataset, row.method, *row.settings.items(), row.repeat, row.metric, row.value): row for row in rows}
    return list(found.values())


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = math.nan
    if not 0 < minutes < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no duration; give minutes above 0")
    return minutes


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; exit status 0, or 2 for a mistake."""
    parser = argparse.ArgumentParser(prog="python -m flows.measured", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="where the files go, for example data/measured/node_classification")
    parser.add_argument("rows", type=Path, nargs="+", help="what the study's --json wrote")
    parser.add_argument("--profile", default="paper", help="section of params.yaml that was run")
    parser.add_argument(
        "--set", action="extend", default=[], metavar="KEY=JSON", nargs="+", help="overrides of that run"
    )
    parser.add_argument("--minutes", type=_minutes, metavar="M", help="what the run took")
    chosen = parser.parse_args(arguments)
    request = StudyRequest(profile=chosen.profile, overrides=chosen.set)
    return exit_status(lambda: keep(chosen.folder, chosen.rows, request, chosen.minutes))


if __name__ == "__main__":
    raise SystemExit(main())
