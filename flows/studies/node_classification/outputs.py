"""Tables and figures of the Solitude study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from flows.context.declaration import StudyOutputs
from flows.results.published import printed
from tasks.datasets.label_rates import FULL
from tasks.evaluation.node_classification.solitude_figures import draw_solitude
from tasks.evaluation.node_classification.solitude_tables import write_solitude_tables


def published() -> pd.DataFrame:
    """The paper's table 3, and its figures 4 and 5 where the table prints nothing."""
    figures, rates = printed("solitude"), printed("solitude_label_rate")
    figures.insert(list(figures.columns).index("metric"), "label_rate", f"{FULL:g}")
    # The file writes 0.50 for what is 0.5 above: one point, which only the same spelling makes a duplicate below.
    rates["label_rate"] = rates["label_rate"].map(lambda rate: f"{float(rate):g}")
    figures = pd.concat([figures, rates[figures.columns]])
    figures.insert(list(figures.columns).index("metric"), "mode", "directed")
    order = {"table-3": 0, "figure-4": 1, "figure-5": 2}
    return figures.sort_values("item", key=lambda items: items.map(order), kind="stable").drop_duplicates(
        ["dataset", "method", "backbone", "eps_x", "eps_a", "label_rate", "metric"]
    )


def draw(compared: pd.DataFrame, folder: Path, vector: Path | None, rows: Sequence[Path]) -> list[Path]:
    """Figures 4 and 5, and the frontier of its methods."""
    return draw_solitude(compared, folder, vector)


OUTPUTS = StudyOutputs(published, draw, write_solitude_tables)
