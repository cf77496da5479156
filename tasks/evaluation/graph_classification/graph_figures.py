"""Figures of the graph study against the budget, in the forms of Jin & Chen (IJCAI 2022).

Table 1 as a figure (accuracy, beside the published figures), figure 3 (nearest neighbours) and figure 5 (mean
discrepancy). Budgets stand at equal distances, so that ``inf`` has a place; under ``gaussian_scale`` a larger one is
more noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tasks.epsilon import INFINITE, epsilon_sort_key
from tasks.evaluation.tables.figure_files import save_figure

LINES = {"node-count": ("black", "--"), "svm-gw": ("grey", "-."), "svm-fgw": ("grey", ":"), "spk": ("grey", "--")}
"""Colour and dash of the methods that have no budget."""
NAMES = {"gaussian_scale": "gaussian_scale\n(eps is the noise)"}
APART = 0.06


@dataclass(frozen=True)
class GraphFigure:
    """One of the figures: its file, its metric, the metric's name, and whether it spans orders of magnitude."""

    file: str
    metric: str
    name: str
    wide: bool = False


FIGURES = (
    GraphFigure("accuracy_by_epsilon.png", "accuracy", "test accuracy"),
    GraphFigure("knn_5_by_epsilon.png", "knn_5_accuracy", "accuracy of 5 nearest neighbours"),
    GraphFigure("knn_20_by_epsilon.png", "knn_20_accuracy", "accuracy of 20 nearest neighbours"),
    GraphFigure("gw_by_epsilon.png", "gw_mean", "mean discrepancy of two graphs", wide=True),
)


def draw_graphs(compared: pd.DataFrame, folder: Path, vector: Path | None = None) -> list[Path]:
    """Draws what a summary beside the reference has rows for; equal tables give equal bytes.

    PNG files in ``folder``, PDF and SVG below ``vector``.

    A line of panels for each data set, a panel for each backbone: a curve for each encoder, bars of one standard
    deviation over repeats, with the machine without noise at ``inf`` and as a dotted line; for the accuracy also
    horizontal lines for the baselines and the node-count control, and crosses for published figures.
    """
    if "input" not in compared:
        return []
    return draw_over_epsilon(compared[compared["study"] == "graph_classification"], FIGURES, folder, vector)


def draw_over_epsilon(
    rows: pd.DataFrame, figures: Sequence[GraphFigure], folder: Path, vector: Path | None = None
) -> list[Path]:
    """Those of the figures whose metric was measured at some eps."""
    drawn = []
    for figure in figures:
        measured = rows[rows["metric"] == figure.metric]
        if (measured["eps"] != "").any():
            drawn.append(folder / figure.file)
            _draw(measured, figure, drawn[-1], vector)
    return drawn


def _draw(measured: pd.DataFrame, figure: GraphFigure, path: Path, vector: Path | None = None) -> None:
    """Draws one metric of a summary, beside the reference or not: one panel for each (data set, backbone)."""
    panels = list(measured[measured["eps"] != ""].groupby(["dataset", "backbone"], sort=False))
    backbones = len({backbone for (_, backbone), _ in panels})
    columns = backbones if backbones > 1 else len(panels)
    lines = math.ceil(len(panels) / columns)
    canvas = Figure(figsize=(7 * columns, 4.5 * lines), layout="constrained")
    axes = canvas.subplots(lines, columns, squeeze=False).ravel()
    for axis, ((dataset, backbone), panel) in zip(axes, panels, strict=True):
        _curves(axis, panel)
        if figure.wide:
            axis.set_yscale("log" if (panel["mean"] > 0).all() else "symlog")
        baselines = measured[(measured["dataset"] == dataset) & (measured["eps"] == "")]
        _lines(axis, baselines[baselines["backbone"].isin(["", backbone])])
        axis.set_xlabel("eps")
        axis.set_ylabel(f"{figure.name}\n(mean, one standard deviation)")
        axis.set_title(f"{dataset}, {backbone}")
        axis.grid(alpha=0.3)
        axis.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    save_figure(canvas, path, vector=vector)


def _curves(axis: Axes, panel: pd.DataFrame) -> None:
    budgets = sorted(panel["eps"].unique(), key=epsilon_sort_key)
    axis.set_xticks(range(len(budgets)), budgets)
    noisy = sorted(set(panel["encoder"]) - {"none"})
    for encoder, curve in panel.groupby("encoder", sort=False):
        # A little apart, so that bars do not hide each other.
        shift = APART * (noisy.index(encoder) - (len(noisy) - 1) / 2) if encoder in noisy else 0.0
        ordered = curve.assign(place=[budgets.index(eps) + shift for eps in curve["eps"]]).sort_values("place")
        spread = [0.0 if math.isnan(sd) else sd for sd in ordered["sd"]]
        exact = set(curve["eps"]) == {INFINITE}
        noise = "without noise" if exact else NAMES.get(str(encoder), str(encoder))
        bars = axis.errorbar(ordered["place"], ordered["mean"], yerr=spread, marker="o", capsize=3, label=noise)
        if exact:
            axis.axhline(ordered["mean"].iloc[0], color=bars[0].get_color(), linestyle=":", linewidth=1)
    known = panel[panel["item"] != ""].drop_duplicates("eps") if "item" in panel else panel.iloc[:0]
    if len(known):
        places = [budgets.index(eps) for eps in known["eps"]]
        axis.scatter(places, known["reference_mean"], marker="x", color="red", zorder=3, label="published")


def _lines(axis: Axes, baselines: pd.DataFrame) -> None:
    for line in baselines.to_dict("records"):
        colour, dash = LINES.get(line["method"], ("green", "--"))
        name = line["method"] if line["method"] == "node-count" else f"{line['method']}, raw"
        axis.axhline(line["mean"], color=colour, linestyle=dash, linewidth=1, label=name)
