"""The privacy ledger: every distinct report of a study once, and what a user pays for them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from tasks.epsilon import INFINITE, epsilon_sort_key
from tasks.errors import UserError
from tasks.reports.ledgers.budget import require_within
from tasks.reports.ledgers.ledger_line import LedgerLine
from tasks.reports.ledgers.units import Spent, total

__all__ = ["Ledger", "LedgerLine", "Total"]


@dataclass(frozen=True)
class Total:
    """A composed budget.

    Attributes:
        dataset: whose users pay.
        spent: the sum in each unit of protection, of those that the reports are about.
        reports: how many reports were summed.
    """

    dataset: str
    spent: Spent
    reports: int


@dataclass(frozen=True)
class Ledger:
    """Lines of distinct reports, in a fixed order; a report entered twice is kept, and paid, once.

    Raises:
        UserError: when two different lines claim to be the same report.
    """

    lines: tuple[LedgerLine, ...] = ()

    def __post_init__(self) -> None:
        distinct: dict[str, LedgerLine] = {}
        for line in self.lines:
            if distinct.setdefault(line.report_key, line) != line:
                raise UserError(f"ledger: report {line.report_key} was entered with two different lines")
        object.__setattr__(self, "lines", tuple(sorted(distinct.values(), key=_order)))

    def extended(self, lines: Iterable[LedgerLine]) -> Ledger:
        """This ledger and more lines."""
        return Ledger((*self.lines, *lines))

    def datasets(self) -> tuple[str, ...]:
        """Names of the data sets, sorted."""
        return tuple(sorted({line.dataset for line in self.lines}))

    def of_dataset(self, dataset: str) -> Ledger:
        """The lines of one data set."""
        return Ledger(tuple(line for line in self.lines if line.dataset == dataset))

    def counted(self, dataset: str) -> tuple[LedgerLine, ...]:
        """The lines of a data set that enter totals: all but those declared public."""
        return tuple(line for line in self.lines if line.dataset == dataset and not line.declared_public)

    def deployment(self, dataset: str, epsilons: Mapping[str, str]) -> Total:
        """What a user pays for one report of each kind, for example ``{"features": "1", "edges": "7"}``.

        Raises:
            UserError: when the ledger holds no report of a kind at that budget.
        """
        chosen = []
        for kind, epsilon in epsilons.items():
            offers = [x for x in self.counted(dataset) if (x.deployment_key, x.epsilon) == (kind, epsilon)]
            if not offers:
                raise UserError(f"ledger: {dataset} has no {kind} report at epsilon {epsilon}")
            chosen.append(max(offers, key=lambda line: Decimal(line.spent.get("relation", 0))))
        return _total(dataset, chosen)

    def deployments(self, dataset: str) -> list[tuple[dict[str, str], Total]]:
        """Every combination of one report per kind, with its total."""
        budgets: dict[str, list[str]] = {}
        for line in self.counted(dataset):
            known = budgets.setdefault(line.deployment_key, [])
            if line.epsilon not in known:
                known.append(line.epsilon)
        if not budgets:
            return []
        choices = [dict(zip(budgets, combination, strict=True)) for combination in product(*budgets.values())]
        return [(choice, self.deployment(dataset, choice)) for choice in choices]

    def released(self, dataset: str, *, noisy_only: bool = False) -> Total:
        """The sum over all distinct reports of a data set that the study publishes.

        One report without noise makes its units ``"inf"``; ``noisy_only`` leaves those reports out.
        """
        return _total(dataset, [x for x in self.counted(dataset) if not (noisy_only and x.epsilon == INFINITE)])

    def require_within(self, budget: str) -> None:
        """UserError naming the first deployment that costs a user more than ``budget``."""
        for dataset in self.datasets():
            for choice, _ in self.deployments(dataset):
                parts = {kind: self.deployment(dataset, {kind: epsilon}).spent for kind, epsilon in choice.items()}
                require_within(parts, budget, dataset=dataset)

    def to_rows(self) -> list[dict[str, object]]:
        """One flat record per line."""
        return [line.to_row() for line in self.lines]

    def to_json(self) -> str:
        """All lines as a JSON array."""
        return json.dumps(self.to_rows(), indent=1, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Ledger:
        """Reads what ``to_json`` wrote; UserError when it is anything else."""
        try:
            rows = json.loads(text)
        except (ValueError, RecursionError):
            raise UserError("ledger: not readable as JSON; the file is damaged, make it again") from None
        if not isinstance(rows, list):
            raise UserError("ledger: expected an array of lines; the file is damaged, make it again")
        return cls(tuple(LedgerLine.from_mapping(row) for row in rows))


def _total(dataset: str, lines: Iterable[LedgerLine]) -> Total:
    summed = list(lines)
    return Total(dataset, total(line.spent for line in summed), len(summed))


def _order(line: LedgerLine) -> tuple[str, str, str, float, str]:
    return (line.dataset, line.deployment_key, line.mechanism, epsilon_sort_key(line.epsilon), line.report_key)
