"""A table of the report as LaTeX: booktabs, escaped, over several pages where it is long."""

from __future__ import annotations

import pandas as pd

from tasks.evaluation.report_page.blocks import Cell, Table
from tasks.evaluation.tables.significance import ABOVE, BELOW

PACKAGES = "% \\usepackage[T1]{fontenc}, \\usepackage{booktabs,longtable}\n"
_ESCAPES = str.maketrans(
    {char: f"\\{char}" for char in "{}$&%#_"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "±": r"\(\pm\)",
        "−": r"\(-\)",
        # A bracket at the start of a row would be read as an option of the line end before it.
        "[": "{[}",
        "]": "{]}",
        "\n": " ",
    }
)
_ARROWS = {ABOVE: r"\(^{\uparrow}\)", BELOW: r"\(^{\downarrow}\)"}


def latex_escaped(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return text.translate(_ESCAPES)


def latex_table(table: Table) -> str:
    """A ``longtable`` with caption and label; arrows mark significant differences."""
    cells = [[_cell(cell) for cell in row] for row in table.rows]
    frame = pd.DataFrame(cells, columns=[rf"\textbf{{{latex_escaped(name)}}}" for name in table.columns])
    return PACKAGES + frame.style.hide(axis="index").to_latex(
        environment="longtable",
        column_format="l" * len(table.columns),
        hrules=True,
        caption=latex_escaped(table.caption),
        label=f"tab:{table.name}",
    )


def _cell(cell: Cell) -> str:
    return latex_escaped(cell.plain) + _ARROWS.get(cell.mark, "")
