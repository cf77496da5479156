"""The Markdown that ledgers and audits print (lines and tables, nothing else) as blocks of the report."""

from __future__ import annotations

from itertools import groupby

from tasks.evaluation.report_page.blocks import Block, Words, plain_table


def markdown_blocks(text: str, name: str, caption: str) -> list[Block]:
    """Tables as tables, every other line as a paragraph; tables are named ``name-1``, ``name-2`` and so on.

    A line directly above a table is its heading and becomes part of the caption.
    """
    blocks: list[Block] = []
    tables = 0
    for is_table, group in groupby([line for line in text.splitlines() if line.strip()], lambda x: x.startswith("|")):
        lines = list(group)
        if not is_table:
            blocks += [Words(line, "note" if line.startswith("[") else "text") for line in lines]
            continue
        tables += 1
        above = blocks[-1] if blocks else None
        heading = above.text if isinstance(above, Words) and above.style == "text" else ""
        del blocks[len(blocks) - bool(heading) :]
        header, _, *rows = (_cells(line) for line in lines)
        blocks.append(plain_table(f"{name}-{tables}", f"{caption}. {heading}".rstrip(". "), header, rows))
    return blocks


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|"))
