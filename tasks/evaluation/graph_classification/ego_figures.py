"""Figures of clustered ego graphs, in the forms of Jin & Chen (IJCAI 2022).

Figure 2 (maps of the graphs), figure 4 (discrepancies of five graphs, beside the published ones), figure 5 (mean
discrepancy over eps); and the clusters' scores over eps.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tasks.epsilon import INFINITE, epsilon_sort_key
from tasks.errors import UserError
from tasks.evaluation.graph_classification.graph_figures import GraphFigure, draw_over_epsilon
from tasks.evaluation.tables.figure_files import save_figure

BY_EPSILON = (
    GraphFigure("ego_ari_by_epsilon.png", "ari", "adjusted Rand index"),
    GraphFigure("ego_nmi_by_epsilon.png", "nmi", "normalised mutual information"),
    GraphFigure("ego_accuracy_by_epsilon.png", "accuracy", "accuracy under the best matching"),
    GraphFigure("ego_gw_by_epsilon.png", "gw_mean", "mean discrepancy of two graphs", wide=True),
)
FIVE = "ego_five_graphs.png"
MAPS = "maps.csv"
MAP_COLUMNS = ("dataset", "encoder", "eps", "graph", "x", "y", "cluster", "class")
WITHOUT = "none"
"""The encoder's name where there is no noise."""
PUBLISHED = {"no-ldp": INFINITE, "ldp-eps-1/n": "1/n", "ldp-eps-0.1": "0.1", "ldp-eps-1": "1"}
"""How the published figure names our budgets."""


def draw_clustering(
    table: pd.DataFrame, maps: pd.DataFrame, reference: pd.DataFrame, folder: Path, vector: Path | None = None
) -> list[Path]:
    """Every figure that there is something for.

    PNG files in ``folder``, PDF and SVG below ``vector``.

    Args:
        table: a summary of the study's rows.
        maps: rows of ``map_rows``, of any number of maps.
        reference: the published figures, see ``tasks.evaluation.tables.reference.read_reference``.
    """
    drawn = draw_scores(table, folder, vector)
    if "five_gw_mean" in set(table["metric"]):
        drawn.append(draw_five(table, reference, folder / FIVE, vector))
    for dataset, of_set in maps.groupby("dataset", sort=False):
        for encoder in sorted(set(of_set["encoder"]) - {WITHOUT}) or [WITHOUT]:
            shown = of_set[of_set["encoder"].isin([encoder, WITHOUT])]
            drawn.append(draw_maps(shown, folder / f"ego_maps_{dataset}_{encoder}.png", vector))
    return drawn


def map_rows(
    dataset: str,
    encoder: str,
    eps: str,
    places: NDArray[np.float32],
    clusters: NDArray[np.int64],
    labels: NDArray[np.int64],
) -> pd.DataFrame:
    """A map of G graphs as a table, one row a graph: (G, 2) places, its cluster, and its class."""
    graphs = np.arange(len(places))
    columns = (dataset, encoder, eps, graphs, places[:, 0].round(3), places[:, 1].round(3), clusters, labels)
    return pd.DataFrame(dict(zip(MAP_COLUMNS, columns, strict=True)))


def read_maps(path: Path) -> pd.DataFrame:
    """What ``map_rows`` made and a study wrote.

    Raises:
        UserError: when the file is no such table.
    """
    try:
        frame = pd.read_csv(path, dtype={"dataset": str, "encoder": str, "eps": str}, keep_default_na=False)
    except (OSError, ValueError):
        frame = pd.DataFrame()
    if tuple(frame.columns) != MAP_COLUMNS:
        raise UserError(f"{path}: no table of maps; run the study again with --export")
    return frame


def draw_maps(maps: pd.DataFrame, path: Path, vector: Path | None = None) -> Path:
    """One column for each budget: the graphs by cluster above, by their centre's class below."""
    # No noise first, as in the paper; then in order of the budget.
    budgets = sorted(maps["eps"].unique(), key=lambda eps: (eps != INFINITE, epsilon_sort_key(eps)))
    canvas = Figure(figsize=(2.6 * len(budgets), 5.6), layout="constrained")
    axes = canvas.subplots(2, len(budgets), squeeze=False)
    for column, eps in enumerate(budgets):
        shown = maps[maps["eps"] == eps]
        for row, kind in enumerate(("cluster", "class")):
            axis = axes[row, column]
            colours = matplotlib.colormaps["tab10"](shown[kind].to_numpy() % 10)
            # As dots of ink every graph would be an element of the SVG file.
            axis.scatter(shown["x"], shown["y"], c=colours, s=7, linewidths=0, rasterized=True)
            axis.set_xticks([])
            axis.set_yticks([])
        axes[0, column].set_title("no LDP" if eps == INFINITE else f"eps={eps}", fontsize="medium")
    axes[0, 0].set_ylabel("coloured by cluster")
    axes[1, 0].set_ylabel("coloured by the centre's class")
    encoders = sorted(set(maps["encoder"]) - {WITHOUT})
    canvas.suptitle(", ".join([*maps["dataset"].unique(), *encoders]))
    return save_figure(canvas, path, vector=vector)


def draw_scores(table: pd.DataFrame, folder: Path, vector: Path | None = None) -> list[Path]:
    """The figures over eps that a summary has rows for."""
    return draw_over_epsilon(table, BY_EPSILON, folder, vector)


def draw_five(table: pd.DataFrame, reference: pd.DataFrame, path: Path, vector: Path | None = None) -> Path:
    """The published figure 4, then ours: a panel for each data set and encoder, each with a scale of its own.

    Bars are means over pairs of five graphs, and over repeats; whiskers the standard deviation over pairs.

    Args:
        table: a summary with ``five_gw_mean`` and ``five_gw_sd``.
        reference: the published figures, see ``tasks.evaluation.tables.reference.read_reference``.
    """
    panels = [("published", _published(reference))]
    for dataset, of_set in table.groupby("dataset", sort=False):
        for encoder in sorted(set(of_set["encoder"]) - {"", WITHOUT}) or [WITHOUT]:
            chosen = of_set[of_set["encoder"].isin([encoder, WITHOUT])]
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
    drawn = axis.bar(range(len(budgets)), means, yerr=spreads, capsize=3, color="tab:blue", alpha=0.7)
    # Without noise the bar may be too low to be seen.
    axis.bar_label(drawn, [f"{mean:.3g}" for mean in means], fontsize="x-small", padding=1)
    axis.margins(y=0.1)
    axis.set_xticks(range(len(budgets)), ["no LDP" if eps == INFINITE else eps for eps in budgets])
    axis.set_xlabel("eps")
    axis.set_ylabel("discrepancy (mean, sd over pairs)")
    axis.set_title(title, fontsize="small")
    axis.grid(axis="y", alpha=0.3)
