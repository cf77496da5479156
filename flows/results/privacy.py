"""What the report says of privacy beyond the results: ledgers, the audit, and attacks where they were measured."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pandas as pd

from flows.results.run_facts import record_blocks
from tasks.account.account import COLUMNS, Account, account_cells, account_line
from tasks.errors import UserError
from tasks.evaluation.attacks.figure import draw_attacks
from tasks.evaluation.attacks.table import attack_table
from tasks.evaluation.audits.table import SUMMARY, audit_summary, common, read_audit
from tasks.evaluation.report_page.blocks import Block, Section, Words, plain_table
from tasks.evaluation.report_page.page import picture
from tasks.evaluation.report_page.protection import protection_table
from tasks.reports.ledgers.ledger import Ledger
from tasks.reports.ledgers.ledger_table import ledger_tables, read_ledgers

ATTACKED = {"dataset", "method", "attack", "reading", "metric", "mean", "sd", "repeats"}


def whole_ledger(folders: list[Path]) -> Ledger:
    """The lines of every folder's ``ledger.json``."""
    return Ledger().extended(
        line for folder in folders for ledger in _ledgers(folder).values() for line in ledger.lines
    )


def guarantees(ledger: Ledger) -> str:
    """How many reports carry a guarantee, in a sentence."""
    count = sum(line.guarantee for line in ledger.lines)
    simulated = sum(line.simulated for line in ledger.lines)
    return (
        f"{count} of {len(ledger.lines)} reports carry a guarantee; the noise of {simulated} is a simulation that "
        "anybody can draw again from the seed."
    )


def privacy_section(ledger: Ledger) -> Section:
    """Units of protection, budgets, and what is not protected."""
    words = (
        f"{guarantees(ledger)} A budget holds for one unit of protection, the thing that may differ between "
        "neighbouring inputs; several units together cost the sum of their budgets. Totals for a user and for a "
        "relation, and every line in full, are in the ledgers below."
    )
    return Section("privacy", "Budgets: what is protected, and what is not", (Words(words), protection_table(ledger)))


def ledger_section(folders: list[Path]) -> Section:
    """Every ledger of the folders in its own words, with deployments and totals."""
    blocks: list[Block] = []
    for folder in folders:
        study, dataset = folder.parent.name.replace("_", "-"), folder.name
        blocks.append(Words(f"{study.replace('-', ' ')}, {dataset}", "heading"))
        names = (f"ledger-{study}-{dataset}-{number}" for number in count(1))
        for title, ledger in _ledgers(folder).items():
            blocks += [Words(title)] * bool(title)
            tables, words = ledger_tables(ledger)
            reports, *totals = (
                plain_table(next(names), f"{dataset}. {heading}", columns, rows)
                for heading, (columns, *rows) in tables.items()
            )
            blocks += [reports, *(Words(text, "note") for text in words), *totals]
    return Section("ledgers", "Ledgers: reports, deployments and totals", tuple(blocks))


def account_section(accounts: Sequence[Account]) -> list[Section]:
    """What was ever released about private data sets; none where nothing was."""
    cells = account_cells(accounts)
    if not cells:
        return []
    words = Words(
        "Every report that was ever drawn of the private data sets that params.yaml declares, whatever run drew it, as "
        "their accounts say now; their results are not part of this page."
    )
    table = plain_table("accounts", "Accounts of private data sets", COLUMNS, cells)
    return [Section("accounts", "Accounts", (words, table, *(Words(account_line(each)) for each in accounts)))]


def audit_section(path: Path) -> list[Section]:
    """What every mechanism was seen to spend beside what it claims; none where no audit was kept."""
    if not path.is_file():
        return []
    intro = Words(
        "Empirical lower bounds on the budget that each mechanism really spends. A bound above the claim would refute "
        "the claim; one below it proves nothing, but says how much of the claim was seen spent."
    )
    frame = read_audit(path)
    summary = plain_table("audit-1", "Audit of the mechanisms", SUMMARY, audit_summary(frame))
    return [Section("audit", "Audit", (intro, summary, Words(common(frame))))]


def attack_section(measured: Path, figures: Path) -> list[Section]:
    """Attacks on public data sets, from ``attacks-*.csv``; none where none were kept."""
    blocks: list[Block] = []
    for path in sorted(measured.glob("attacks-*.csv")):
        frame = _attacks(path)
        drawn = figures / f"{path.stem}.png"
        draw_attacks(frame, drawn)
        name = path.stem.removeprefix("attacks-")
        blocks += [
            Words(name, "heading"),
            picture(drawn, f"{name}: what attacks find, beside accuracy, by budget", [f"{figures.name}/{drawn.name}"]),
            Words(attack_table(frame), "code"),
        ]
        if path.with_suffix(".json").is_file():
            blocks += record_blocks(path.with_suffix(".json"))
    if not blocks:
        return []
    intro = Words(
        "What an adversary learns from reports and from published models, judged by the truth of public data sets. "
        "0.5 is a blind guess for an AUC. What the best known attack does not find may still be found by another."
    )
    return [Section("attacks", "Attacks", (intro, *blocks))]


def _attacks(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        missing = ATTACKED - set(frame.columns)
        if missing:
            raise UserError(
                f"{path}: column {', '.join(sorted(missing))} is missing; run python -m flows.attacks --csv"
            )
        return frame.assign(**{name: pd.to_numeric(frame[name]) for name in ("mean", "sd", "repeats")})
    except (OSError, ValueError):
        raise UserError(f"{path}: no table of attacks; run python -m flows.attacks --csv") from None


def _ledgers(folder: Path) -> dict[str, Ledger]:
    path = folder / "ledger.json"
    try:
        return read_ledgers(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise UserError(f"{path}: cannot be read; run the study again") from None
