"""The privacy-utility frontier: test accuracy over both budgets, one heat map per (data set, backbone, method)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from tasks.epsilon import INFINITE
from tasks.evaluation.node_classification.solitude_tables import directed_lines
from tasks.evaluation.tables.figure_files import save_figure
from tasks.evaluation.tables.rows import setting_order

UNREAD = "none"
COLUMNS = 3


def draw_frontier(table: pd.DataFrame, folder: Path, vector: Path | None = None) -> list[Path]:
    """Draws ``frontier-<data set>-<backbone>.png``, a panel a method, wherever some method met two pairs of budgets.

    Rows are eps_x (``none``: the features are not read and cost nothing), columns eps_a, cells percent of test nodes.
    A frame marks a cell that no pair of budgets, neither of them larger, reaches. Methods without a network stand in
    the figure of every backbone; a line in the colour bar is the accuracy without noise. Equal tables, equal bytes.
    """
    lines = directed_lines(table)
    noisy = lines[lines["eps_a"] != INFINITE]
    drawn = []
    for dataset, part in noisy.groupby("dataset", sort=False):
        networks = [name for name in dict.fromkeys(part["backbone"]) if name != UNREAD] or [UNREAD]
        for backbone in networks:
            panels = part[part["backbone"].isin([backbone, UNREAD])]
            if panels.groupby("method").size().max() > 1:
                clean = lines[(lines["dataset"] == dataset) & (lines["method"] == "non-private")]
                ceiling = clean.loc[clean["backbone"] == backbone, "mean"]
                path = folder / f"frontier-{dataset}-{backbone}.png"
                drawn.append(_draw(panels, ceiling.max() if len(ceiling) else math.nan, path, vector))
    return drawn


def frontier(means: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which cells of (rows, columns), budgets ascending in both, are above all others whose budgets are not larger.

    Missing cells are NaN and never marked.
    """
    marked = np.zeros(means.shape, dtype=bool)
    for i, j in zip(*np.nonzero(~np.isnan(means)), strict=True):
        cheaper = means[: i + 1, : j + 1].ravel()[:-1]
        marked[i, j] = not np.any(cheaper >= means[i, j])
    return marked


def _draw(lines: pd.DataFrame, ceiling: float, path: Path, vector: Path | None) -> Path:
    panels = list(lines.groupby("method", sort=False))
    columns = min(len(panels), COLUMNS)
    rows = math.ceil(len(panels) / columns)
    budgets = [sorted(lines[name].unique(), key=_ascending) for name in ("eps_x", "eps_a")]
    width = max(2.6, 0.62 * len(budgets[1]) + 1.0)
    height = max(1.5, 0.45 * len(budgets[0]) + 1.0)
    figure = Figure(figsize=(width * columns + 1.2, height * rows + 0.5), layout="constrained")
    spaces = figure.subplots(rows, columns, squeeze=False).ravel()
    shades = [100 * value for value in [*lines["mean"], ceiling] if not math.isnan(value)]
    norm = Normalize(min(shades), max(shades) if max(shades) > min(shades) else min(shades) + 1)
    for space in spaces[len(panels) :]:
        space.set_axis_off()
    for space, (method, panel) in zip(spaces, panels, strict=False):
        image = _panel(space, panel, norm)
        space.set_title(str(method), fontsize="medium")
    bar = figure.colorbar(image, ax=list(spaces), label="test accuracy (%)", shrink=0.9)
    if not math.isnan(ceiling):
        bar.ax.axhline(100 * ceiling, color="black", linewidth=3)
        bar.ax.set_title(f"no noise: {100 * ceiling:.1f}", fontsize="small")
    return save_figure(figure, path, dpi=110, vector=vector)


def _panel(space: Axes, panel: pd.DataFrame, norm: Normalize) -> AxesImage:
    rows, columns = (sorted(panel[name].unique(), key=_ascending) for name in ("eps_x", "eps_a"))
    means = np.full((len(rows), len(columns)), np.nan)
    for line in panel.to_dict("records"):
        means[rows.index(line["eps_x"]), columns.index(line["eps_a"])] = 100 * line["mean"]
    image = space.imshow(means, norm=norm, cmap="viridis", aspect="auto", origin="lower")
    marked = frontier(means)
    for (i, j), value in np.ndenumerate(means):
        if not math.isnan(value):
            space.text(j, i, f"{value:.1f}", ha="center", va="center", color="black" if norm(value) > 0.6 else "white")
        if marked[i, j]:
            frame = Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, fill=False, edgecolor="red", linewidth=1.8)
            space.add_patch(frame)
    space.set_xticks(range(len(columns)), columns)
    space.set_yticks(range(len(rows)), rows)
    space.set_xlabel("eps_a (per neighbour list)")
    space.set_ylabel("eps_x")
    return image


def _ascending(value: str) -> tuple[float, str]:
    """What is not read costs nothing and comes first."""
    return (-1.0, value) if value == UNREAD else setting_order(value)
