"""What is reported of a pair of nodes: every user's own bits, or one bit for both."""

from __future__ import annotations

from typing import Literal, cast, get_args

from tasks.errors import UserError

EdgeMode = Literal["directed", "directed-no-diagonal", "pair"]


def ends_of(mode: EdgeMode) -> int:
    """How many of a relation's two ends report it."""
    return 1 if mode == "pair" else 2


def checked_mode(mode: str) -> EdgeMode:
    """``mode`` if it is one of the three; UserError otherwise."""
    if mode not in get_args(EdgeMode):
        raise UserError(f"edge mode {mode!r} is unknown; use one of {', '.join(get_args(EdgeMode))}")
    return cast(EdgeMode, mode)
