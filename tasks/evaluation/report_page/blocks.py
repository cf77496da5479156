"""What a section of the report is made of: words, tables, figures; the page, CSV and LaTeX are made from these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Words:
    """A paragraph; ``style`` is ``text``, ``heading``, ``note`` or ``code`` (spaces and line ends are kept)."""

    kind: ClassVar[str] = "words"
    text: str
    style: str = "text"


@dataclass(frozen=True)
class Cell:
    """One cell; ``detail`` stands below it, ``mark`` is a judgement of ``significance`` or ``control``."""

    text: str
    detail: str = ""
    mark: str = ""

    @property
    def plain(self) -> str:
        """Both parts in one line."""
        return f"{self.text} ({self.detail})" if self.detail else self.text


@dataclass(frozen=True)
class Table:
    """A table with a caption; ``name`` is its anchor and, where it is ``kept`` as files, their name.

    Raises:
        ValueError: when a row has another number of cells than there are columns.
    """

    kind: ClassVar[str] = "table"
    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    kept: bool = True

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.name}: a row has another number of cells than {len(self.columns)}")


@dataclass(frozen=True)
class Picture:
    """A figure: the picture as a data URI, its caption, and the files of it that stand beside the page."""

    kind: ClassVar[str] = "picture"
    caption: str
    uri: str
    files: tuple[str, ...]


Block = Words | Table | Picture


@dataclass(frozen=True)
class Section:
    """A part of the page with an entry in the table of contents."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


def plain_table(name: str, caption: str, columns: tuple[str, ...], rows: Iterable[Sequence[str]]) -> Table:
    """A table of plain texts."""
    return Table(name, caption, columns, tuple(tuple(Cell(text) for text in row) for row in rows))


def kept_tables(sections: Iterable[Section]) -> list[Table]:
    """Every table of the page that is kept as files, in its order."""
    return [block for section in sections for block in section.blocks if isinstance(block, Table) and block.kept]
