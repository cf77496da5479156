"""Whether rows are what a profile asks for: results kept with the code must be those of the parameters beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from flows.context.declaration import StudyDeclaration
from tasks.errors import UserError
from tasks.evaluation.tables.rows import Row
from tasks.parameters.profiles import Profile


class TableCell(Protocol):
    """A line of a table: everything but the repeat."""

    @property
    def dataset(self) -> str:
        """The data set."""

    @property
    def method(self) -> str:
        """The method."""

    @property
    def settings(self) -> dict[str, str]:
        """What else tells lines apart."""


@dataclass(frozen=True, order=True)
class ExpectedLine:
    """A line of a table in one repeat."""

    dataset: str
    method: str
    settings: tuple[tuple[str, str], ...]
    repeat: int

    @classmethod
    def of(cls, dataset: str, method: str, settings: Mapping[str, str], repeat: int) -> ExpectedLine:
        """The line of these settings in any order."""
        return cls(dataset, method, tuple(sorted(settings.items())), repeat)

    def __str__(self) -> str:
        settings = [f"{name}={value}" for name, value in self.settings]
        return " ".join([self.dataset, self.method, *settings, f"repeat={self.repeat}"])


def check_coverage(rows: Sequence[Row], declaration: StudyDeclaration, profile: Profile) -> None:
    """Passes when every line of the grid has a row for every repeat on each of the rows' data sets, and no other has.

    Raises:
        UserError: naming the first line that one side lacks.
    """
    assert declaration.expected is not None  # every study has lines
    datasets = sorted({row.dataset for row in rows})
    found = {ExpectedLine.of(row.dataset, row.method, row.settings, row.repeat) for row in rows}
    wanted = declaration.expected(profile, datasets, found)
    if strange := sorted(found - wanted):
        raise UserError(
            f"{strange[0]} is not in the grid ({len(strange)} such lines); give the run's --profile and --set"
        )
    if lacking := sorted(wanted - found):
        raise UserError(
            f"{lacking[0]} has no row ({len(lacking)} such lines); add its rows or narrow the grid with --set"
        )


def every_repeat(cells: Iterable[TableCell], profile: Profile) -> set[ExpectedLine]:
    """The lines of these cells in all repeats."""
    repeats = range(profile.repeats)
    return {
        ExpectedLine.of(cell.dataset, cell.method, cell.settings, repeat) for cell, repeat in product(cells, repeats)
    }
