"""Attacks are for public data alone."""

from __future__ import annotations

from tasks.errors import UserError


def refuse_private(name: str, private: bool) -> None:
    """UserError for a private data set: an attack is judged by the truth, and its figure tells of it."""
    if private:
        raise UserError(f"data set {name!r} is private: attacks are measured against the truth, on public data only")
