"""What was ever released about private data sets: ``python -m flows.account [NAME]``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from flows.context.request import StudyRequest
from flows.studies.requests import own_datasets, read_request
from flows.system.environment import configure_environment
from flows.system.exit_status import exit_status
from flows.system.output_paths import HELP, check_places
from flows.system.owner_only import keep_to_owner
from tasks.account.account import COLUMNS, Account, account_cells, account_line, account_rows
from tasks.atomic_write import write_atomically
from tasks.errors import UserError
from tasks.reports.ledgers.ledger_table import markdown_table


def show(name: str | None, place: Path | None) -> int:
    """Print the account of one private data set, or of all that ``params.yaml`` declares.

    Raises:
        UserError: for a name that is not declared or not private, and for a damaged account.
    """
    check_places({"--json": place})
    configure_environment()
    keep_to_owner([])
    own = own_datasets(read_request(StudyRequest()))
    private = {key: declared for key, declared in own.items() if declared.private}
    if name is not None and name not in private:
        kind = "is public, so no account of it is kept" if name in own else "is not declared"
        known = ", ".join(private) or "none"
        raise UserError(f"data set {name!r} {kind}; private data sets in params.yaml: {known}")
    accounts = [Account(private[key]) for key in ([name] if name else private)]
    if place:
        rows = [row for account in accounts for row in account_rows(account)]
        write_atomically(place, json.dumps(rows, indent=1) + "\n")
    if cells := account_cells(accounts):
        print(markdown_table([COLUMNS, *cells]))
    print("\n".join(map(account_line, accounts)) or "params.yaml declares no private data set")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status: 0, or 2 for a mistake."""
    parser = argparse.ArgumentParser(prog="python -m flows.account", description=__doc__)
    parser.add_argument("name", nargs="?", metavar="NAME", help="a private data set; without, all of them")
    parser.add_argument("--json", type=Path, metavar="FILE", help=f"write all rows as one JSON array; {HELP}")
    chosen = parser.parse_args(arguments)
    return exit_status(lambda: show(chosen.name, chosen.json))


if __name__ == "__main__":
    sys.exit(main())
