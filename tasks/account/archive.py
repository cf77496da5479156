"""Where the reports of a private data set are kept: beside the data, so that none is drawn twice for want of a copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from tasks.account.account import REMEDY, Account
from tasks.datasets.user.declaration import UserDataset
from tasks.errors import UserError
from tasks.point_folder import DamagedPoint, remove, verify
from tasks.reports.ledgers.ledger_line import Charge, LedgerLine
from tasks.store import DENIED, FULL, PointRef, PointStore, io_errors


class ReportArchive(PointStore):
    """A store of reports, each of which was charged to the data set's account before it was drawn.

    A report is found by what was asked for, whatever the version of the code; one that was charged and is missing or
    damaged is drawn again only where that was asked for.
    """

    def __init__(self, own: UserDataset) -> None:
        self.account = Account(own)
        self._draw_again = own.draw_again
        super().__init__(self.account.folder)
        with self._io():
            for folder in (self.root, *(entry for entry in self.root.iterdir() if entry.is_dir())):
                folder.chmod(0o700)

    def report(
        self,
        key: Mapping[str, object],
        draw: Callable[[Path, Charge], None],
        *,
        label: str,
        code: str,
    ) -> PointRef:
        """The report of ``key``; ``draw(folder, charge)`` makes it, and charges it before it draws.

        Raises:
            UserError: when it would exceed the budget, or was drawn before and is not there any more.
        """
        digest = self._digest(key, private=True)

        def compute(folder: Path) -> None:
            self._require_new(digest, label)

            def charge(line: LedgerLine) -> LedgerLine:
                self.account.charge(line, report=digest, point=label, code=code)
                return line

            draw(folder, charge)
            remove(self.root / "points" / digest)  # a damaged one

        found = self.point(key, compute, label=label, private=True)
        return self._dated(found, code) if found.cached else found

    def _dated(self, found: PointRef, code: str) -> PointRef:
        drawn = [charge for charge in self.account.charges() if charge.report == found.digest]
        if not drawn or drawn[-1].code == code:
            return found
        last = drawn[-1]
        return replace(found, remark=f"report drawn {last.drawn} by version {last.code} of the code is used again")

    def _require_new(self, digest: str, label: str) -> None:
        drawn = [charge.drawn for charge in self.account.charges() if charge.report == digest]
        if drawn and not self._draw_again:
            place = self.root / "points" / digest
            raise UserError(
                f"{label}: charged on {drawn[-1]}, and its report is {'damaged' if place.exists() else 'not there'}; "
                f"restore {place}, or run with --draw-again, which charges it once more"
            )

    def _stored(self, folder: Path) -> tuple[str | None, str]:
        if not folder.exists():
            return None, ""
        try:
            return verify(folder), ""
        except DamagedPoint as damage:
            return None, f"report {folder.name} was damaged: {damage}"

    def _io(self, errors: frozenset[int] = FULL | DENIED) -> AbstractContextManager[None]:
        return io_errors(f"account {self.root}", REMEDY, errors)
