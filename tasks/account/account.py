"""The privacy account of a private data set: every report that was ever drawn of it, and the limit of what may be.

It lies in a folder beside the data and outlives runs, point stores and versions of the code. Charges are appended
under a lock and brought to the disk before the draw, so a draw that is killed is charged. The file names no value of
the data and holds no digest that is not keyed with the folder's own secret.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

from tasks.account.charge import Charge
from tasks.datasets.user.declaration import UserDataset
from tasks.errors import UserError
from tasks.reports.ledgers.ledger_line import LedgerLine
from tasks.reports.ledgers.units import UNITS, beyond, total

FILE = "account.jsonl"
REMEDY = "make it writable, or declare another `account` in params.yaml"


class Account:
    """The account of one declared data set."""

    def __init__(self, own: UserDataset) -> None:
        self.name = own.name
        self.folder = own.account_folder
        self.limits = dict(own.budget or ())

    @property
    def path(self) -> Path:
        """Its file."""
        return self.folder / FILE

    def charges(self) -> list[Charge]:
        """All charges, oldest first; a last line that was cut off stands for no draw and is passed over.

        Raises:
            UserError: when the file is damaged or cannot be read.
        """
        try:
            text = self.path.read_bytes().decode("utf-8", errors="replace")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UserError(f"{self.path}: cannot be read ({error.strerror}); make it readable to you") from None
        found = []
        for number, line in enumerate(text.split("\n")[:-1], 1):
            try:
                found.append(Charge.from_json(line))
            except UserError:
                raise UserError(
                    f"{self.path}: line {number} is damaged; restore it, nothing is drawn of {self.name} without"
                ) from None
        return found

    def spent(self) -> dict[str, str]:
        """The sum of all charges in each unit."""
        return total(charge.counted for charge in self.charges())

    def charge(self, line: LedgerLine, *, report: str, point: str, code: str) -> None:
        """Enter a report that is about to be drawn.

        Raises:
            UserError: when it would exceed a limit, and when it cannot be written: nothing may be drawn then.
        """
        drawn = datetime.now(UTC).isoformat(timespec="seconds")
        charge = Charge.of(line, report=report, drawn=drawn, point=point, code=code)
        with self._locked():
            self._require_room(line, charge)
            self._append(charge.to_json().encode() + b"\n")

    def _require_room(self, line: LedgerLine, charge: Charge) -> None:
        before = self.spent()
        over = beyond(total([before, charge.counted]), self.limits)
        over = [unit for unit in over if unit in charge.counted]
        if not over:
            return
        unit = over[0]
        if line.simulated:
            raise UserError(
                f"{self.name}: noise from a known seed protects nothing, so its budget {self.limits[unit]} for one "
                f"{unit} admits none; run with --set seed=null"
            )
        raise UserError(
            f"{self.name}: {charge.mechanism} ({charge.point}) costs {charge.counted[unit]} for one {unit}, and "
            f"{before.get(unit, '0')} of its lifetime budget {self.limits[unit]} is spent; it was not drawn: use a "
            "smaller epsilon or reports that were drawn before (python -m flows.account shows them)"
        )

    def _append(self, line: bytes) -> None:
        """Bring one line to the disk, whole or not at all."""
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                os.fchmod(handle, 0o600)
                content = os.pread(handle, os.fstat(handle).st_size, 0)
                end = content.rfind(b"\n") + 1  # behind it is what a crash left of a line
                os.ftruncate(handle, end)
                if os.pwrite(handle, line, end) != len(line):
                    os.ftruncate(handle, end)
                    raise OSError(0, "the disk is full")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise UserError(f"{self.path}: cannot be written ({error.strerror}); nothing was drawn: {REMEDY}") from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = FileLock(self.folder / f"{FILE}.lock", mode=0o600)
            lock.acquire()
        except OSError as error:
            raise UserError(f"{self.folder}: cannot be written ({error.strerror}); {REMEDY}") from None
        try:
            yield
        finally:
            lock.release()


COLUMNS = ("dataset", "mechanism", "unit", "epsilon", "reports", "total", "limit", "first", "last")


def account_rows(account: Account) -> list[dict[str, object]]:
    """One record for each (mechanism, unit, epsilon): how many reports, their total, the unit's limit, and when.

    ``total`` is the sum of these reports in that unit; ``limit`` is None where nothing limits it.
    """
    found: dict[tuple[str, ...], list[Charge]] = {}
    for charge in account.charges():
        for unit, epsilon in charge.spends.items():
            found.setdefault((charge.dataset, charge.mechanism, unit, epsilon), []).append(charge)
    order = list(UNITS)
    return [
        {
            "dataset": dataset,
            "mechanism": mechanism,
            "unit": unit,
            "epsilon": epsilon,
            "reports": len(charges),
            "total": total({unit: epsilon} for _ in charges)[unit],
            "limit": None if charges[0].public else account.limits.get(unit),
            "first": min(charge.drawn for charge in charges),
            "last": max(charge.drawn for charge in charges),
        }
        for (dataset, mechanism, unit, epsilon), charges in sorted(
            found.items(), key=lambda item: (item[0][0], order.index(item[0][2]), item[0][1:])
        )
    ]


def account_cells(accounts: Iterable[Account]) -> list[tuple[str, ...]]:
    """The rows of these accounts as text, ``-`` for no limit, in the order of ``COLUMNS``."""
    rows = [row for account in accounts for row in account_rows(account)]
    return [tuple("-" if row[name] is None else str(row[name]) for name in COLUMNS) for row in rows]


def account_line(account: Account) -> str:
    """What was released so far, and what limits it, in a sentence."""
    spent = account.spent()
    so_far = ", ".join(
        f"{epsilon} for one {unit}" + (f" (limit {account.limits[unit]})" if unit in account.limits else "")
        for unit, epsilon in spent.items()
    )
    limit = "" if account.limits else "; no lifetime budget is declared: nothing limits what further runs release"
    return f"{account.name}: over all runs {so_far or 'nothing'} was released{limit}; account: {account.path}"


def accounts_text(declared: Iterable[UserDataset]) -> str:
    """The sentences of the private ones among these data sets."""
    return "\n".join(account_line(Account(own)) for own in declared if own.private)
