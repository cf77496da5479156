"""The rows of an audit as a table, for the console, for JSON and for CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from tasks.errors import UserError
from tasks.evaluation.audits.running import AuditRow

DIGITS = 4
COLUMNS = (
    "mechanism",
    "claim",
    "lower_bound",
    "draws",
    "confidence",
    "seen",
    "share_in_clear",
    "setting",
    "unit",
    "remark",
)
SUMMARY = ("mechanism", "settings", "claims", "lower bound / claim", "smallest share in clear seen")


def audit_frame(rows: Iterable[AuditRow]) -> pd.DataFrame:
    """One line per row, with ``seen``, the share of the claim; bounds are rounded down, shares in clear up."""
    scale, finer = 10**DIGITS, 10 ** (DIGITS + 2)
    records = [
        {
            "mechanism": row.mechanism,
            "claim": row.claim,
            "lower_bound": math.floor(row.lower_bound * scale) / scale,
            "draws": row.draws,
            "confidence": row.confidence,
            "seen": math.floor(row.seen * scale) / scale,
            "share_in_clear": math.ceil(row.share_in_clear * finer) / finer,
            "setting": row.setting,
            "unit": row.unit,
            "remark": row.remark,
        }
        for row in rows
    ]
    return pd.DataFrame(records, columns=list(COLUMNS))


def audit_json(frame: pd.DataFrame) -> str:
    """A JSON array, one row a line."""
    lines = [json.dumps(record, ensure_ascii=False, allow_nan=False) for record in frame.to_dict("records")]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def read_audit(path: Path) -> pd.DataFrame:
    """Reads what ``audit_json`` made.

    Raises:
        UserError: when the file is missing or holds anything else.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: no audit ({type(error).__name__}); run python -m flows.audit --json") from None
    if not isinstance(rows, list) or not rows or any(not isinstance(r, dict) or set(r) != set(COLUMNS) for r in rows):
        raise UserError(f"{path}: not the rows of an audit; run python -m flows.audit --json")
    return pd.DataFrame(rows, columns=list(COLUMNS))


def audit_summary(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    """One row per mechanism: its settings, claims, the shares of them that were seen spent, and the smallest leak."""
    rows: list[tuple[str, ...]] = []
    for mechanism, block in frame.groupby("mechanism", sort=False):
        claims, shares = (sorted(block[name]) for name in ("claim", "seen"))
        over = int((block["lower_bound"] > block["claim"]).sum())
        seen = f"{shares[0]:.1%} to {shares[-1]:.1%}{f', {over} MORE THAN CLAIMED' if over else ''}"
        rows.append((str(mechanism), str(len(block)), f"{claims[0]:.4g} to {claims[-1]:.4g}", seen, _leak(block)))
    return rows


def _leak(block: pd.DataFrame) -> str:
    return _one_in(float(block["share_in_clear"].min()))


def _one_in(share: float) -> str:
    return f"1 in {math.floor(1 / share):,}" if share < 1 else "-"


def audit_text(frame: pd.DataFrame) -> str:
    """Aligned text: one block per mechanism, then what holds for all rows, and the remarks."""
    remarks = list(dict.fromkeys(remark for remark in frame["remark"] if remark))
    lines: list[str] = []
    for mechanism, block in frame.groupby("mechanism", sort=False):
        lines.append(str(mechanism))
        for row in block.to_dict("records"):
            mark = f" [{remarks.index(row['remark']) + 1}]" if row["remark"] else ""
            over = "  MORE THAN CLAIMED" if row["lower_bound"] > row["claim"] else ""
            lines.append(
                f"  claim {row['claim']:<6.4g} lower bound {row['lower_bound']:<8.4f} {row['seen']:>6.1%}"
                f"  in clear {_one_in(row['share_in_clear']):<11}  {row['setting']}; {row['unit']}{mark}{over}"
            )
    lines += ["", common(frame)]
    lines += [f"[{number}] {remark}" for number, remark in enumerate(remarks, 1)]
    return "\n".join(lines)


def common(frame: pd.DataFrame) -> str:
    """What holds for all rows."""
    draws = " to ".join(f"{number:,}" for number in sorted({frame["draws"].min(), frame["draws"].max()}))
    confidence = frame["confidence"].iloc[0]
    return (
        f"All lower bounds hold together with confidence {confidence:.1%}; draws per input: {draws}. A leak of "
        "the share of users in clear that is named, or of a larger one, would have been caught"
    )
