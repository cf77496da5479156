"""One measured value, and the JSON array of them that every study writes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from tasks.atomic_write import write_atomically
from tasks.errors import UserError


@dataclass(frozen=True)
class Row:
    """A value of one metric at one point of one repeat; settings as canonical strings, fractions as fractions.

    Raises:
        UserError: for a value that is no finite number, or a setting that is no string.
    """

    study: str
    dataset: str
    method: str
    settings: Mapping[str, str]
    repeat: int
    metric: str
    value: float

    def __post_init__(self) -> None:
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)) or not math.isfinite(self.value):
            raise UserError(f"{self.dataset} {self.method} {self.metric}: {self.value!r} is not a finite number")
        if not all(isinstance(value, str) for value in self.settings.values()):
            raise UserError(f"{self.dataset} {self.method}: settings {dict(self.settings)} must be strings")
        object.__setattr__(self, "settings", dict(sorted(self.settings.items())))


def setting_order(value: str) -> tuple[float, str]:
    """Sort key of a setting: numbers by size with ``inf`` last, then words."""
    try:
        return (float(value), "")
    except ValueError:
        return (math.inf, value)


def sorted_rows(rows: Iterable[Row]) -> list[Row]:
    """Rows by study, data set, method, settings, repeat and metric, whatever order they were computed in."""
    return sorted(
        rows,
        key=lambda row: (
            row.study,
            row.dataset,
            row.method,
            [(name, setting_order(value)) for name, value in row.settings.items()],
            row.repeat,
            row.metric,
        ),
    )


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Writes a JSON array, sorted, one row a line; the file appears whole or not at all.

    Raises:
        UserError: when the place cannot be written.
    """
    lines = [json.dumps(asdict(row), ensure_ascii=False, allow_nan=False) for row in sorted_rows(rows)]
    write_atomically(path, "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n")


def read_rows(path: Path) -> list[Row]:
    """Reads what ``write_rows`` wrote.

    Raises:
        UserError: when the file is missing or is not an array of rows.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); run the study first") from None
    except ValueError:
        raise UserError(f"{path}: not JSON; write it again") from None
    names = {field.name for field in fields(Row)}
    if not isinstance(content, list) or not all(isinstance(row, dict) and row.keys() == names for row in content):
        raise UserError(f"{path}: not an array of rows with the keys {', '.join(sorted(names))}")
    return [Row(**row) for row in content]
