"""A table of the report as LaTeX: booktabs, escaped, over several pages where it is long."""

from __future__ import annotations

from tasks.evaluation.report_page.blocks import Cell, Table
from tasks.evaluation.tables.significance import ABOVE, BELOW

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "%": r"\%",
        "#": r"\#",
        "_": r"\_",
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
    header = " & ".join(rf"\textbf{{{latex_escaped(name)}}}" for name in table.columns) + r" \\"
    body = [" & ".join(_cell(cell) for cell in row) + r" \\" for row in table.rows]
    return "\n".join(
        [
            r"% \usepackage[T1]{fontenc}, \usepackage{booktabs,longtable}",
            rf"\begin{{longtable}}{{{'l' * len(table.columns)}}}",
            rf"\caption{{{latex_escaped(table.caption)}}}\label{{tab:{table.name}}} \\",
            r"\toprule",
            header,
            r"\midrule",
            r"\endfirsthead",
            r"\toprule",
            header,
            r"\midrule",
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            *body,
            r"\end{longtable}",
            "",
        ]
    )


def _cell(cell: Cell) -> str:
    return latex_escaped(cell.plain) + _ARROWS.get(cell.mark, "")
