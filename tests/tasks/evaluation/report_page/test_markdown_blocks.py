from __future__ import annotations

from tasks.evaluation.report_page.blocks import Table, Words
from tasks.evaluation.report_page.markdown_blocks import markdown_blocks
from tasks.reports.ledgers.ledger import Ledger
from tasks.reports.ledgers.ledger_line import local_privacy_line
from tasks.reports.ledgers.ledger_table import ledgers_markdown


def ledger(*budgets: str) -> Ledger:
    lines = [
        local_privacy_line(
            mechanism="noise",
            dataset="cora",
            deployment_key="edges",
            report_key=eps,
            epsilon=eps,
            unit="neighbour list (one edge)",
            claim=f"{eps}-LDP",
            not_protected="several edges <together> & the rest",
            simulated=True,
            relation_epsilon=eps,
        )
        for eps in budgets
    ]
    return Ledger(tuple(lines))


def test_every_word_and_every_cell_of_a_ledger_is_kept() -> None:
    text = ledgers_markdown({"First way": ledger("1", "inf"), "Second way": ledger("2")})
    blocks = markdown_blocks(text, "ledger", "cora")
    tables = [block for block in blocks if isinstance(block, Table)]
    words = [block.text for block in blocks if isinstance(block, Words)]
    assert len(tables) == 6
    assert [table.name for table in tables] == [f"ledger-{number}" for number in range(1, 7)]
    shown = [*words, *(table.caption for table in tables)]
    for line in text.splitlines():
        if line.startswith("| ---") or not line or line.startswith("|--"):
            continue
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            rows = [[cell.text for cell in row] for table in tables for row in table.rows]
            assert cells in [*rows, *(list(table.columns) for table in tables)]
        else:
            assert any(line.strip() in text for text in shown), line


def test_sentences_above_a_table_stay_paragraphs() -> None:
    blocks = markdown_blocks("[1] one sentence\n| a |\n| --- |\n| b |\n", "t", "Caption")
    assert blocks[0] == Words("[1] one sentence", "note")
    assert isinstance(blocks[1], Table)
    assert blocks[1].caption == "Caption"
