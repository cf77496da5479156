"""Tables and figures of the GW-LDP study's classification of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from flows.context.declaration import StudyOutputs
from flows.results.published import printed
from tasks.epsilon import INFINITE
from tasks.evaluation.graph_classification.graph_figures import draw_graphs
from tasks.evaluation.graph_classification.graph_tables import write_graph_tables


def published() -> pd.DataFrame:
    """The paper's table 1; its noisy rows are for its default budget 1/n and stand beside every encoder there."""
    figures = printed("gromov")
    noisy = figures["input"].str.endswith("-ldp").map({True: "1/n", False: ""})
    exact = figures["input"].str.endswith("-H").map({True: INFINITE, False: ""})
    figures.insert(list(figures.columns).index("metric"), "eps", noisy + exact)  # settings stand before the metric
    return figures[figures["item"] == "table-1"]


def draw(compared: pd.DataFrame, folder: Path, vector: Path | None, rows: Sequence[Path]) -> list[Path]:
    """Accuracy, neighbours and discrepancies against the budget."""
    return draw_graphs(compared, folder, vector)


OUTPUTS = StudyOutputs(published, draw, write_graph_tables)
