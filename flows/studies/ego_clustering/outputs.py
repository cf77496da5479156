"""Figures of the GW-LDP study's ego graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from flows.context.declaration import StudyOutputs
from flows.results.published import printed
from tasks.evaluation.graph_classification.ego_figures import MAP_COLUMNS, MAPS, draw_clustering, read_maps


def published() -> pd.DataFrame:
    """Nothing: the paper's figures have a spread over pairs, not over repeats. They are drawn beside ours."""
    return printed("gromov").iloc[:0]


def draw(compared: pd.DataFrame, folder: Path, vector: Path | None, rows: Sequence[Path]) -> list[Path]:
    """Scores and discrepancies against the budget, and the maps that lie beside the rows."""
    maps = [read_maps(place) for file in rows if (place := file.with_name(MAPS)).is_file()]
    whole = pd.concat(maps or [pd.DataFrame(columns=list(MAP_COLUMNS))])
    return draw_clustering(compared, whole, printed("gromov"), folder, vector)


OUTPUTS = StudyOutputs(published, draw)
