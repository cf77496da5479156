"""What the reports of a study protect, in which unit, and what they do not: from the ledger's lines."""

from __future__ import annotations

from tasks.epsilon import epsilon_sort_key
from tasks.evaluation.report_page.blocks import Table, plain_table
from tasks.reports.ledgers.ledger import Ledger

COLUMNS = ("mechanism", "unit of protection", "NOT protected", "epsilon", "guarantee", "data sets")


def protection_table(ledger: Ledger) -> Table:
    """One line per (mechanism, unit, what is not protected), with the budgets it was used at."""
    found: dict[tuple[str, str, str], list[tuple[str, str, bool]]] = {}
    for line in ledger.lines:
        key = (line.mechanism, line.unit, line.not_protected)
        found.setdefault(key, []).append((line.dataset, line.epsilon, line.guarantee))
    rows = []
    for (mechanism, unit, not_protected), lines in found.items():
        datasets, budgets, guarantees = (set(values) for values in zip(*lines, strict=True))
        guarantee = {(True,): "yes", (False,): "no"}.get(tuple(guarantees), "some")
        epsilons = ", ".join(sorted(budgets, key=epsilon_sort_key))
        rows.append((mechanism, unit, not_protected, epsilons, guarantee, ", ".join(sorted(datasets))))
    return plain_table("protection", "What one report protects, and what it does not", COLUMNS, rows)
