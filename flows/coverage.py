"""Whether rows are what a profile asks for: results kept with the code must be those of the parameters beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from flows.classification_lines import UNREAD, Cell, lines
from tasks.curator.search.shared_choice import LABEL
from tasks.errors import UserError
from tasks.evaluation.rows import Row
from tasks.params import Profile

Place = tuple[str, str, tuple[tuple[str, str], ...]]
"""Data set, method and settings of a table's line."""


def check_coverage(rows: Sequence[Row], profile: Profile) -> None:
    """Passes when every line of the grid has a row for every repeat on each of the rows' data sets, and no other has.

    Raises:
        UserError: naming the first line that one side lacks. A study without a known enumeration is refused for
            repeats alone.
    """
    (study,) = {row.study for row in rows}
    datasets = sorted({row.dataset for row in rows})
    found = {(_place(row.dataset, row.method, row.settings), row.repeat) for row in rows}
    repeats = range(profile.repeats)
    places = CELLS[study](profile, datasets) if study in CELLS else {place for place, _ in found}
    wanted = {(place, repeat) for place in places for repeat in repeats}
    if strange := sorted(found - wanted):
        raise UserError(
            f"{_words(*strange[0])} is not in the grid ({len(strange)} such lines); give the run's --profile and --set"
        )
    if lacking := sorted(wanted - found):
        raise UserError(
            f"{_words(*lacking[0])} has no row ({len(lacking)} such lines); add its rows or narrow the grid with --set"
        )


def _classification(profile: Profile, datasets: Iterable[str]) -> set[Place]:
    grid = profile.node_classification
    cells = [Cell(dataset, line) for dataset in datasets for line in lines(grid)]
    if grid.shared_choice:
        cells += [replace(cell, protocol=LABEL) for cell in cells if cell.line.backbone != UNREAD]
    return {_place(cell.dataset, cell.method, cell.settings) for cell in cells}


CELLS: dict[str, Callable[[Profile, Iterable[str]], set[Place]]] = {"node_classification": _classification}


def _place(dataset: str, method: str, settings: Mapping[str, str]) -> Place:
    return dataset, method, tuple(sorted(settings.items()))


def _words(place: Place, repeat: int) -> str:
    dataset, method, settings = place
    return " ".join([dataset, method, *(f"{name}={value}" for name, value in settings), f"repeat={repeat}"])
