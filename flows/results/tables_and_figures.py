"""A study's own tables and figures: of the report, of results kept with the code, and of a run in MLflow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from flows.results.published import fedwalk_figures, gromov_figures
from tasks.evaluation.graph_classification.ego_figures import MAP_COLUMNS, MAPS, draw_clustering, read_maps
from tasks.evaluation.graph_classification.graph_figures import draw_graphs
from tasks.evaluation.graph_classification.graph_tables import write_graph_tables
from tasks.evaluation.node_classification.solitude_figures import draw_solitude
from tasks.evaluation.node_classification.solitude_tables import write_solitude_tables
from tasks.evaluation.node_embedding.embedding_changes import published_changes
from tasks.evaluation.node_embedding.embedding_figures import draw_embedding
from tasks.evaluation.node_embedding.embedding_tables import write_embedding_tables


def write_tables(study: str, compared: pd.DataFrame, folder: Path) -> None:
    """Write the study's own tables, where it has some, as CSV; ``compared`` holds its lines (``reference.beside``)."""
    match study:
        case "node_classification":
            write_solitude_tables(compared, folder)
        case "graph_classification":
            write_graph_tables(compared, folder)
        case "node_embedding":
            write_embedding_tables(compared, folder, published_changes(fedwalk_figures()))


def draw_figures(
    study: str, compared: pd.DataFrame, folder: Path, vector: Path | None = None, rows: Sequence[Path] = ()
) -> list[Path]:
    """Draw the figures that the study's lines suffice for; returns the PNG files.

    Args:
        study: its name.
        compared: its lines, see ``reference.beside``.
        folder: receives PNG files.
        vector: receives PDF and SVG files.
        rows: files of rows; maps of ego graphs, where there are some, lie beside them.
    """
    match study:
        case "node_classification":
            return draw_solitude(compared, folder, vector)
        case "graph_classification":
            return draw_graphs(compared, folder, vector)
        case "node_embedding":
            return draw_embedding(compared, folder, vector, published_changes(fedwalk_figures()))
        case "ego_clustering":
            maps = [read_maps(place) for file in rows if (place := file.with_name(MAPS)).is_file()]
            whole = pd.concat(maps or [pd.DataFrame(columns=list(MAP_COLUMNS))])
            return draw_clustering(compared, whole, gromov_figures(), folder, vector)
    raise ValueError(f"{study} has no figures")
