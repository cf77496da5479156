"""Which lines of a table are controls: what a private method must be told apart from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Controls = Mapping[str, Mapping[str, str]]
"""By column and value, why a line is a control. ``part of the method`` are the words of a method between ``+``."""
PART = "part of the method"


def control_of(line: Mapping[Any, Any], controls: Controls) -> str:
    """Why a line of a summary (method and settings) is a control; empty if it is none."""
    method = str(line["method"]).split(" (")[0]  # without the protocol of the choice
    reasons = []
    for column, known in controls.items():
        own = method if column in ("method", PART) else str(line.get(column, ""))
        values = own.split(" + ") if column == PART else [own]
        reasons += [known[value] for value in values if value in known]
    return "; ".join(reasons)
