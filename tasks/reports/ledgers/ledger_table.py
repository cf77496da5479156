"""Ledgers as tables, as text for logs, and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

from tasks.errors import UserError
from tasks.reports.ledgers.ledger import Ledger
from tasks.reports.ledgers.ledger_line import LedgerLine
from tasks.reports.ledgers.units import UNITS, total

Rows = list[tuple[str, ...]]


def ledger_tables(ledger: Ledger) -> tuple[dict[str, Rows], list[str]]:
    """Tables by heading, the columns' names first, and the words of the first one's numbers.

    The kinds of reports (repeats counted, not listed), deployments, and released totals.
    """
    kinds: Counter[tuple[str, ...]] = Counter()
    numbers: dict[str, int] = {}
    for line in ledger.lines:
        words = "; ".join((line.statement, f"not protected: {line.not_protected}", *line.notes))
        number = numbers.setdefault(words, len(numbers) + 1)
        relation = line.relation_epsilon or "-"
        kinds[line.dataset, line.mechanism, line.epsilon, line.unit, relation, f"[{number}]"] += 1
    reports: Rows = [("data set", "mechanism", "reports", "epsilon", "unit", "per relation", "in words")]
    reports += [(*kind[:2], str(count), *kind[2:]) for kind, count in kinds.items()]

    units = total(line.spent for dataset in ledger.datasets() for line in ledger.counted(dataset))
    deployments: Rows = [("data set", "one of each", *units)]
    released: Rows = [("data set", "unit", "reports", "all", "noisy only")]
    for dataset in ledger.datasets():
        for choice, paid in ledger.deployments(dataset):
            parts = " + ".join(f"{kind} {epsilon}" for kind, epsilon in choice.items())
            deployments.append((dataset, parts, *(paid.spent.get(unit, "-") for unit in units)))
        everything, noisy = ledger.released(dataset), ledger.released(dataset, noisy_only=True)
        for unit, epsilon in everything.spent.items():
            about = sum(unit in line.spent for line in ledger.counted(dataset))
            released.append((dataset, f"{unit}: {UNITS[unit]}", str(about), epsilon, noisy.spent.get(unit, "-")))

    tables = {
        "Reports": reports,
        "Deployment: what one report of each kind costs, by unit of protection": deployments,
        "Released: the sum over all distinct reports of this study, by unit of protection": released,
    }
    return tables, [f"[{number}] {words}" for words, number in numbers.items()]


def ledger_markdown(ledger: Ledger) -> str:
    """The tables in Markdown."""
    tables, words = ledger_tables(ledger)
    reports, *totals = (f"{heading}\n\n{markdown_table(rows)}" for heading, rows in tables.items())
    return "\n\n".join(["\n".join([reports, *words]), *totals])


def ledgers_markdown(ledgers: Mapping[str, Ledger]) -> str:
    """The ledgers of alternatives, of which a user would deploy one, each under its title."""
    return "\n".join((f"{title}\n\n" if title else "") + ledger_markdown(ledger) for title, ledger in ledgers.items())


def ledgers_json(ledgers: Mapping[str, Ledger]) -> str:
    """The lines of the ledgers by title."""
    return json.dumps({title: ledger.to_rows() for title, ledger in ledgers.items()}, indent=1) + "\n"


def read_ledgers(text: str) -> dict[str, Ledger]:
    """Reads what ``ledgers_json`` wrote; UserError when it is anything else."""
    try:
        found = json.loads(text).items()
        return {title: Ledger(tuple(LedgerLine.from_mapping(row) for row in rows)) for title, rows in found}
    except (ValueError, RecursionError, AttributeError, TypeError):
        raise UserError("ledger: not readable as JSON; the file is damaged, make it again") from None


def markdown_table(rows: Rows) -> str:
    """A table in Markdown, the columns' names first; a bar in a cell becomes a stroke."""
    header, *lines = ["| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows]
    return "\n".join([header, "|" + " --- |" * len(rows[0]), *lines]) + "\n"
