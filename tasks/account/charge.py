"""One charge of a privacy account: a report that was about to be drawn, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from tasks.epsilon import INFINITE
from tasks.errors import UserError
from tasks.reports.ledgers.ledger_line import LedgerLine
from tasks.reports.ledgers.units import Spent, in_clear


@dataclass(frozen=True)
class Charge:
    """A line of the account's file.

    Attributes:
        report: keyed digest of what was asked for; of equal ones the same report can be used again.
        drawn: when, UTC, ISO 8601 to the second.
        dataset: the name that the data were declared under.
        mechanism, unit, epsilon: as in the report's ledger line.
        point: mechanism's parameters, in words.
        spends: budgets by unit; without a limit where a known seed made the noise.
        public: declared public, and in no total.
        code: version of the code that drew it.
    """

    report: str
    drawn: str
    dataset: str
    mechanism: str
    unit: str
    epsilon: str
    point: str
    spends: Mapping[str, str]
    public: bool
    code: str

    @classmethod
    def of(cls, line: LedgerLine, *, report: str, drawn: str, point: str, code: str) -> Charge:
        """What a ledger line costs."""
        return cls(
            report=report,
            drawn=drawn,
            dataset=line.dataset,
            mechanism=line.mechanism + (", noise from a known seed" if line.simulated else ""),
            unit=line.unit,
            epsilon=INFINITE if line.simulated else line.epsilon,
            point=point,
            spends=in_clear(*line.spent) if line.simulated else line.spent,
            public=line.declared_public,
            code=code,
        )

    @property
    def counted(self) -> Spent:
        """What enters the totals."""
        return {} if self.public else self.spends

    def to_json(self) -> str:
        """One line of text."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Charge:
        """Reads what ``to_json`` wrote.

        Raises:
            UserError: when it is anything else.
        """
        try:
            content = json.loads(text)
            if content.keys() == {field.name for field in fields(cls)}:
                return cls(**content)
        except (ValueError, RecursionError, AttributeError):
            pass
        raise UserError("not a charge")
