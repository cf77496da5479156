"""The ledger as text for logs and reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tasks.reports.ledgers.ledger import Ledger


def ledger_markdown(ledger: Ledger) -> str:
    """Tables of the kinds of reports (repeats counted, not listed), deployments and released totals, and the words."""
    kinds: Counter[tuple[str, ...]] = Counter()
    numbers: dict[str, int] = {}
    for line in ledger.lines:
        words = "; ".join((line.statement, f"not protected: {line.not_protected}", *line.notes))
        number = numbers.setdefault(words, len(numbers) + 1)
        relation = line.relation_epsilon or "-"
        kinds[line.dataset, line.mechanism, line.epsilon, line.unit, relation, f"[{number}]"] += 1
    reports = [(*kind[:2], str(count), *kind[2:]) for kind, count in kinds.items()]

    deployments: list[tuple[str, ...]] = []
    released: list[tuple[str, ...]] = []
    for dataset in ledger.datasets():
        for choice, total in ledger.deployments(dataset):
            parts = " + ".join(f"{kind} {epsilon}" for kind, epsilon in choice.items())
            deployments.append((dataset, parts, total.user, total.relation))
        everything, noisy = ledger.released(dataset), ledger.released(dataset, noisy_only=True)
        released.append((dataset, str(everything.reports), everything.user, noisy.user, noisy.relation))

    return "\n".join(
        [
            "Reports\n",
            _table(("data set", "mechanism", "reports", "epsilon", "unit", "per relation", "in words"), reports),
            *(f"[{number}] {words}" for words, number in numbers.items()),
            "\nDeployment: what a user pays for one report of each kind\n",
            _table(("data set", "one of each", "per user", "per relation"), deployments),
            "\nReleased: the sum over all distinct reports of this study\n",
            _table(("data set", "reports", "per user", "per user, noisy only", "per relation, noisy only"), released),
        ]
    )


def ledgers_markdown(ledgers: Mapping[str, Ledger]) -> str:
    """The ledgers of alternatives, of which a user would deploy one, each under its title."""
    return "\n".join((f"{title}\n\n" if title else "") + ledger_markdown(ledger) for title, ledger in ledgers.items())


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in (header, *rows)]
    lines.insert(1, "|" + " --- |" * len(header))
    return "\n".join(lines) + "\n"
