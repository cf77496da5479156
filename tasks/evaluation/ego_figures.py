"""Figures of clustered ego graphs, in the forms of Jin & Chen (IJCAI 2022).

Figure 2 (maps of the graphs), figure 4 (discrepancies of five graphs, beside the published ones), figure 5 (mean
discrepancy over eps); and the clusters' scores over eps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tasks.epsilon import INFINITE, epsilon_sort_key
from tasks.evaluation.figure_files import save_figure
from tasks.evaluation.graph_figures import GraphFigure, draw_over_epsilon

BY_EPSILON = (
    GraphFigure("ari_by_epsilon.png", "ari", "adjusted Rand index"),
    GraphFigure("nmi_by_epsilon.png", "nmi", "normalised mutual information"),
    GraphFigure("accuracy_by_epsilon.png", "accuracy", "accuracy under the best matching"),
    GraphFigure("gw_by_epsilon.png", "gw_mean", "mean discrepancy of two graphs"),
)
FIVE = "five_graphs.png"
PUBLISHED = {"no-ldp": INFINITE, "ldp-eps-1/n": "1/n", "ldp-eps-0.1": "0.1", "ldp-eps-1": "1"}
"""How the published figure names our budgets."""


@dataclass(frozen=True, eq=False)
class GraphMap:
    """A map of G graphs.

    Attributes:
        title: what was reported, and how.
        places: (G, 2).
        clusters: int64 (G,).
    """

    title: str
    places: NDArray[np.float32]
    clusters: NDArray[np.int64]


def draw_maps(maps: Sequence[GraphMap], labels: NDArray[np.int64], path: Path, vector: Path | None = None) -> Path:
    """One column for each map: the graphs by cluster above, by class (``labels``, int64 (G,)) below."""
    canvas = Figure(figsize=(3.2 * len(maps), 6.4), layout="constrained")
    axes = canvas.subplots(2, len(maps), squeeze=False)
    for column, shown in enumerate(maps):
        for row, (kinds, name) in enumerate(((shown.clusters, "cluster"), (labels, "class of the centre"))):
            axis = axes[row, column]
            colours = matplotlib.colormaps["tab10"](kinds % 10)
            axis.scatter(shown.places[:, 0], shown.places[:, 1], c=colours, s=6, linewidths=0)
            axis.set_xticks([])
            axis.set_yticks([])
            axis.set_title(f"{shown.title}\nby {name}", fontsize="small")
    return save_figure(canvas, path, vector=vector)


def draw_scores(table: pd.DataFrame, folder: Path, vector: Path | None = None) -> list[Path]:
    """The figures over eps that a summary has rows for."""
    return draw_over_epsilon(table, BY_EPSILON, folder, vector)


def draw_five(table: pd.DataFrame, reference: pd.DataFrame, path: Path, vector: Path | None = None) -> Path:
    """The published figure 4, then ours: a panel for each data set and encoder, each with a scale of its own.

    Bars are means over pairs of five graphs, and over repeats; whiskers the standard deviation over pairs.

    Args:
        table: a summary with ``five_gw_mean`` and ``five_gw_sd``.
        reference: the published figures, see ``tasks.evaluation.reference.read_reference``.
    """
    panels = [("published", _published(reference))]
    for dataset, of_set in table.groupby("dataset", sort=False):
        for encoder in sorted(set(of_set["encoder"]) - {"", "none"}):
            chosen = of_set[of_set["encoder"].isin([encoder, "none"])]
            panels.append((f"{dataset}, {encoder}", _measured(chosen)))
    canvas = Figure(figsize=(3.2 * len(panels), 3.4), layout="constrained")
    for axis, (title, bars) in zip(canvas.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _bars(axis, title, bars)
    return save_figure(canvas, path, vector=vector)


def _published(reference: pd.DataFrame) -> dict[str, tuple[float, float]]:
    rows = reference[reference["item"] == "figure-4"]
    names = rows["method"].str.removeprefix("gw-discrepancy-").map(PUBLISHED)
    return dict(zip(names, zip(rows["reference_mean"], rows["reference_sd"], strict=True), strict=True))


def _measured(chosen: pd.DataFrame) -> dict[str, tuple[float, float]]:
    means = chosen[chosen["metric"] == "five_gw_mean"].set_index("eps")["mean"]
    spreads = chosen[chosen["metric"] == "five_gw_sd"].set_index("eps")["mean"]
    return {str(eps): (float(means[eps]), float(spreads[eps])) for eps in means.index}


def _bars(axis: Axes, title: str, bars: dict[str, tuple[float, float]]) -> None:
    # No noise first, as in the paper; then in order of the budget.
    budgets = sorted(bars, key=lambda eps: (eps != INFINITE, epsilon_sort_key(eps)))
    means, spreads = zip(*(bars[eps] for eps in budgets), strict=True)
    axis.bar(range(len(budgets)), means, yerr=spreads, capsize=3, color="tab:blue", alpha=0.7)
    axis.set_xticks(range(len(budgets)), ["no LDP" if eps == INFINITE else eps for eps in budgets])
    axis.set_xlabel("eps")
    axis.set_ylabel("discrepancy (mean, sd over pairs)")
    axis.set_title(title, fontsize="small")
    axis.grid(axis="y", alpha=0.3)
