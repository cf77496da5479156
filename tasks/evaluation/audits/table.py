"""The rows of an audit as a table, for the console, for JSON and for CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

import pandas as pd

from tasks.evaluation.audits.running import AuditRow

DIGITS = 4


def audit_frame(rows: Iterable[AuditRow]) -> pd.DataFrame:
    """One line per row: its fields and ``seen``, the share of the claim; lower bounds rounded down, never up."""
    scale = 10**DIGITS
    records = [
        {
            "mechanism": row.mechanism,
            "claim": row.claim,
            "lower_bound": math.floor(row.lower_bound * scale) / scale,
            "draws": row.draws,
            "confidence": row.confidence,
            "seen": math.floor(row.seen * scale) / scale,
            "setting": row.setting,
            "unit": row.unit,
            "remark": row.remark,
        }
        for row in rows
    ]
    return pd.DataFrame(records)


def audit_json(frame: pd.DataFrame) -> str:
    """A JSON array, one row a line."""
    lines = [json.dumps(record, ensure_ascii=False, allow_nan=False) for record in frame.to_dict("records")]
    return "[\n" + ",\n".join(lines) + "\n]\n"


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
                f"  {row['setting']}; {row['unit']}{mark}{over}"
            )
    confidence, draws = frame["confidence"].iloc[0], sorted(set(frame["draws"]))
    lines.append(f"\nAll lower bounds hold together with confidence {confidence:.1%}; draws per input: {_range(draws)}")
    lines += [f"[{number}] {remark}" for number, remark in enumerate(remarks, 1)]
    return "\n".join(lines)


def _range(numbers: list[int]) -> str:
    return " to ".join(f"{number:,}" for number in dict.fromkeys((numbers[0], numbers[-1])))
