"""The lines of the node embedding study in a summary, with every setting that any of its modes has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SETTINGS = ("mode", "eps_encoder", "p", "k", "walks", "pad", "train_ratio", "scoring")
SCORINGS = ("top_k", "threshold")
"""How label sets are predicted: as many labels as a node has, or those of a probability above a half."""
HALF = "0.5"
"""The training ratio that is compared where one is enough."""


def embedding_lines(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The study's lines of one metric; a setting that no line has is an empty column."""
    lines = table[(table["study"] == "node_embedding") & (table["metric"] == metric)]
    missing = [name for name in SETTINGS if name not in lines]
    return lines.assign(**dict.fromkeys(missing, "")).fillna(dict.fromkeys(SETTINGS, ""))


def named_mode(settings: Mapping[Any, Any]) -> str:
    """The mode; a user takes part in one, and padded lists are another one than those of true length."""
    return f"{settings['mode']} (padded)" if settings.get("pad") else str(settings["mode"])
