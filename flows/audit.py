"""The audit: what every mechanism is seen to spend, next to what its ledger line claims. ``python -m flows.audit``.

Needs neither a server nor data: neighbouring inputs are made up, and the mechanisms themselves are run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from flows.system.environment import configure_environment
from flows.system.exit_status import exit_status
from flows.system.output_paths import HELP, check_places
from tasks.errors import UserError

REFUTED = 1


def audit(seed: int, fast: bool, json: Path | None, csv: Path | None) -> int:
    """Audit everything, print the table and write it where asked; the exit status, 1 when a claim is refuted.

    Raises:
        UserError: for a negative seed or a place that cannot be written.
    """
    if seed < 0:
        raise UserError(f"--seed {seed} is negative; use 0 or more")
    check_places({"--json": json, "--csv": csv})
    configure_environment()
    # Imported now: numba reads its environment once, when it is first imported.
    from tqdm import tqdm

    from tasks.atomic_write import write_atomically
    from tasks.evaluation.audits.running import FAST_DRAWS, all_cases, audited
    from tasks.evaluation.audits.table import audit_frame, audit_json, audit_text
    from tasks.evaluation.tables.summary import write_csv

    cases = all_cases()
    progress = tqdm(audited(cases, seed, FAST_DRAWS if fast else None), "audit", len(cases), disable=None, leave=False)
    rows = list(progress)
    frame = audit_frame(rows)
    if json:
        write_atomically(json, audit_json(frame))
    if csv:
        write_csv(csv, frame)
    print(audit_text(frame))
    refuted = [f"{row.mechanism} ({row.setting})" for row in rows if row.refuted]
    if refuted:
        print(f"more than claimed is spent by {', '.join(refuted)}", file=sys.stderr)
    return REFUTED if refuted else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status: 0, 1 for a refuted claim, 2 for a mistake."""
    parser = argparse.ArgumentParser(prog="python -m flows.audit", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help=f"write all rows as one JSON array; {HELP}")
    parser.add_argument("--csv", type=Path, metavar="FILE", help=f"write all rows as CSV; {HELP}")
    parser.add_argument("--fast", action="store_true", help="few draws: a quick look, bounds further from the claims")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws; equal seeds give equal rows")
    chosen = parser.parse_args(arguments)
    return exit_status(lambda: audit(chosen.seed, chosen.fast, chosen.json, chosen.csv))


if __name__ == "__main__":
    raise SystemExit(main())
