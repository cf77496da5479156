from __future__ import annotations

from tasks.evaluation.report_page.protection import protection_table
from tasks.reports.ledgers.ledger import Ledger
from tasks.reports.ledgers.ledger_line import local_privacy_line


def test_a_line_gathers_the_budgets_of_one_mechanism_unit_and_gap() -> None:
    lines = [
        local_privacy_line(
            mechanism="noise",
            dataset=dataset,
            deployment_key="edges",
            report_key=f"{dataset} {eps} {gap}",
            epsilon=eps,
            unit="one edge",
            claim="LDP",
            not_protected=gap,
            simulated=simulated,
            spends={"edge": eps},
        )
        for dataset, eps, gap, simulated in (
            ("cora", "10", "several edges", True),
            ("ppi", "7.5", "several edges", False),
            ("cora", "inf", "several edges", True),
            ("cora", "1", "the degree", False),
        )
    ]
    rows = [[cell.text for cell in row] for row in protection_table(Ledger(tuple(lines))).rows]
    assert rows == [
        ["noise", "one edge", "the degree", "1", "yes", "cora"],
        ["noise", "one edge", "several edges", "7.5, 10, inf", "some", "cora, ppi"],
    ]
