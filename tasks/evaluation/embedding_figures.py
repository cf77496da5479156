"""Micro-F1 of embeddings against one setting: the forms of FedWalk's figures 6 to 8, with what the setting costs below.

A figure is drawn only from rows that have more than one value of its setting. Scores are those of the ``top_k``
protocol, the paper's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tasks.evaluation.figure_files import save_figure
from tasks.evaluation.rows import setting_order


@dataclass(frozen=True)
class EmbeddingFigure:
    """One of the figures.

    Attributes:
        file: its name.
        setting, name: what stands on the horizontal axis.
        cost, cost_name: the metric of the lower row of panels, none if empty.
    """

    file: str
    setting: str
    name: str
    cost: str = ""
    cost_name: str = ""


FIGURES = (
    EmbeddingFigure("micro_f1_by_bins.png", "k", "k, bins of neighbours"),
    EmbeddingFigure(
        "micro_f1_by_epsilon.png", "eps_encoder", "eps_encoder", "edge_recall", "share of the edges given away"
    ),
    EmbeddingFigure(
        "micro_f1_by_prediction.png",
        "p",
        "p, probability of a two-hop prediction",
        "messages_per_walk",
        "messages between devices in a walk",
    ),
)
SETTINGS = ("walks", "eps_encoder", "k", "p")


def draw_embedding(table: pd.DataFrame, folder: Path, vector: Path | None = None) -> list[Path]:
    """Draws the figures that a summary has the rows for; equal tables give equal bytes.

    PNG files in ``folder``, PDF and SVG below ``vector``.

    One column of panels for each (data set, training ratio), one curve for each mode and other settings that vary,
    bars of one standard deviation; DeepWalk, which has no such setting, is a dashed line.
    """
    scores = table[table["study"] == "node_embedding"]
    if scores.empty:
        return []
    scores = scores[scores["scoring"] == "top_k"]
    drawn = []
    for figure in FIGURES:
        if figure.setting in scores and scores.loc[scores[figure.setting] != "", figure.setting].nunique() > 1:
            drawn.append(folder / figure.file)
            _draw(scores, figure, drawn[-1], vector)
    return drawn


def _draw(scores: pd.DataFrame, figure: EmbeddingFigure, path: Path, vector: Path | None) -> None:
    panels = list(scores.groupby(["dataset", "train_ratio"], sort=False))
    metrics = [("micro_f1", "micro-F1 (mean, one standard deviation)"), (figure.cost, figure.cost_name)]
    metrics = [(metric, name) for metric, name in metrics if metric]
    canvas = Figure(figsize=(5.5 * len(panels), 4 * len(metrics)), layout="constrained")
    grid = canvas.subplots(len(metrics), len(panels), squeeze=False)
    for column, ((dataset, train_ratio), panel) in enumerate(panels):
        for row, (metric, name) in enumerate(metrics):
            axis = grid[row][column]
            _curves(axis, panel[panel["metric"] == metric], figure.setting)
            axis.set_xlabel(figure.name)
            axis.set_ylabel(name)
            axis.set_title(f"{dataset}, training ratio {train_ratio}, top_k")
            axis.grid(alpha=0.3)
            axis.legend(fontsize="x-small")
    save_figure(canvas, path, vector=vector)


def _curves(axis: Axes, panel: pd.DataFrame, setting: str) -> None:
    """Values of the setting stand at equal distances, so that ``inf`` has a place."""
    moving = panel[panel[setting] != ""]
    values = sorted(moving[setting].unique(), key=setting_order)
    axis.set_xticks(range(len(values)), values)
    varying = [name for name in SETTINGS if name != setting and name in moving and len({*moving[name]} - {""}) > 1]
    shown = ["mode", *varying]
    for key, curve in moving.groupby(shown, sort=False):
        places = [values.index(value) for value in curve[setting]]
        spread = [0.0 if math.isnan(sd) else sd for sd in curve["sd"]]
        settings = [f"{name}={value}" for name, value in zip(shown[1:], key[1:], strict=True) if value]
        axis.errorbar(
            places, curve["mean"], yerr=spread, marker="o", capsize=3, label=" ".join([str(key[0]), *settings])
        )
    for line in panel[panel["mode"] == "deepwalk"].to_dict("records"):
        label = "deepwalk" + (f" walks={line['walks']}" if "walks" in shown else "")
        axis.axhline(line["mean"], linestyle="--", color="grey", linewidth=1, label=label)
