"""What carries the classes of a data set."""

from __future__ import annotations

from typing import Literal

Kind = Literal["nodes", "label sets", "graphs", "no classes"]
"""Nodes one class each, nodes several each, whole graphs, or nothing."""
