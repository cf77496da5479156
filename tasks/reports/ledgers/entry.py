"""No report without its ledger line: what every report type checks when one is constructed."""

from __future__ import annotations

from tasks.errors import UserError
from tasks.reports.ledgers.ledger_line import LedgerLine


def require_entry(line: object, slot: str, *, report: str, epsilon: str | None = None) -> None:
    """Refuses to construct a report with no ledger line, or with the line of something else.

    Args:
        line: what was given as the report's ledger line.
        slot: the deployment key of this report type's lines.
        report: the report type's name, for the message.
        epsilon: the report's canonical budget, where its line must state the same one.

    Raises:
        UserError: for anything but a line of this slot and budget.
    """
    if not isinstance(line, LedgerLine):
        raise UserError(f"{report}: it needs a ledger line, not {type(line).__name__}; let the mechanism make it")
    if line.deployment_key != slot:
        raise UserError(f"{report}: its ledger line is for {line.deployment_key!r}, not for {slot!r}; make it again")
    if epsilon is not None and line.epsilon != epsilon:
        raise UserError(f"{report}: its budget {epsilon} differs from its ledger line's {line.epsilon}; make it again")
