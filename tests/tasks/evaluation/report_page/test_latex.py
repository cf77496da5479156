from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.evaluation.report_page.blocks import Cell, Table, plain_table
from tasks.evaluation.report_page.latex import latex_escaped, latex_table

COMMAND = re.compile(r"\\\(.*?\\\)|\\[a-zA-Z]+\{\}|\\[{}$&%#_]|\{[][]\}")


@given(st.text(st.sampled_from(list("ab1\\{}$&%#_~^<>|\"[]±−\n '")), max_size=12))
def test_no_character_keeps_a_meaning_for_latex(text: str) -> None:
    rest = COMMAND.sub("", latex_escaped(text))
    assert not set(rest) & set('\\{}$&%#_~^<>|"[]\n±−')
    assert len(rest) == sum(char in "ab1 '\n" for char in text)


def unescaped(line: str, mark: str) -> int:
    return len(re.findall(rf"(?<!\\){re.escape(mark)}", line))


def test_rows_have_as_many_cells_as_the_table_has_columns() -> None:
    columns = ("method", "a & b", "100%")
    table = plain_table("one", "Caption_1", columns, [("x & y", "[1]", "5_%"), ("~", "", r"\end{longtable}")])
    lines = latex_table(table).splitlines()
    begin = next(line for line in lines if line.startswith(r"\begin{longtable}"))
    assert begin == r"\begin{longtable}{lll}"
    rows = [line for line in lines if line.endswith(r" \\") and not line.startswith((r"\caption", r"\multicolumn"))]
    assert len(rows) == 2 + 2
    assert all(unescaped(line, "&") == len(columns) - 1 for line in rows)
    assert not [line for line in rows if line.startswith("[")]
    text = "\n".join(lines)
    assert text.count(r"\end{longtable}") == 1
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert rule in text
    assert r"\caption{Caption\_1} \label{tab:one}" in text


def test_significance_is_an_arrow_and_a_detail_stands_in_brackets() -> None:
    cells = (Cell("1", "2 ± 1; +3", "above"), Cell("1", mark="below"), Cell("1", mark="same"))
    row = latex_table(Table("t", "", ("a", "b", "c"), (cells,))).splitlines()[-2]
    assert row == r"1 (2 \(\pm\) 1; +3)\(^{\uparrow}\) & 1\(^{\downarrow}\) & 1 \\"


def test_a_row_of_another_length_is_no_table() -> None:
    with pytest.raises(ValueError, match="one"):
        plain_table("one", "", ("a", "b"), [("1",)])
