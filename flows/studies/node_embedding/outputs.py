"""Tables and figures of the FedWalk study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from flows.context.declaration import StudyOutputs
from flows.results.published import printed
from tasks.evaluation.node_embedding.embedding_changes import published_changes
from tasks.evaluation.node_embedding.embedding_figures import draw_embedding
from tasks.evaluation.node_embedding.embedding_tables import write_embedding_tables


def published() -> pd.DataFrame:
    """DeepWalk's own table; FedWalk's figures were published as differences and stand beside nothing."""
    figures = printed("fedwalk").rename(columns={"condition": "scoring"})
    return figures[figures["method"] == "deepwalk"]


def draw(compared: pd.DataFrame, folder: Path, vector: Path | None, rows: Sequence[Path]) -> list[Path]:
    """Micro-F1 against bins, budget and prediction."""
    return draw_embedding(compared, folder, vector, published_changes(printed("fedwalk")))


def write_tables(compared: pd.DataFrame, folder: Path) -> None:
    """DeepWalk's table, largest budgets, and the changes that FedWalk printed."""
    write_embedding_tables(compared, folder, published_changes(printed("fedwalk")))


OUTPUTS = StudyOutputs(published, draw, write_tables)
