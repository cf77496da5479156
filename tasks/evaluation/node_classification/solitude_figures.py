"""Figures 4 and 5 of the Solitude paper: accuracy against the edge budget and against the label rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tasks.evaluation.node_classification.solitude_tables import classification_lines, directed_lines
from tasks.evaluation.tables.figure_files import save_figure
from tasks.evaluation.tables.rows import setting_order

COLOURS = {"base": "tab:grey", "solitude": "tab:blue", "mutual": "tab:red"}
"""The methods of the paper's figures, and ours."""
BUDGETS = {"0.5": ("v", 0.45), "1": ("o", 0.7), "2": ("^", 1.0)}
"""Marker and opacity by feature budget."""


def draw_solitude(compared: pd.DataFrame, folder: Path, vector: Path | None = None) -> list[Path]:
    """Draws what a summary beside the reference has lines for; equal tables give equal bytes.

    PNG files in ``folder``, PDF and SVG below ``vector``.

    ``figure-4.png``: one panel per (data set, backbone), one curve per method and eps_x against eps_a.
    ``figure-5.png``: one panel per data set, one curve per method against the label rate. Solid lines with bars of one
    standard deviation are ours; dashed ones of the same colour were published.
    """
    folder.mkdir(parents=True, exist_ok=True)
    directed = directed_lines(compared)
    directed = directed[directed["method"].isin(COLOURS)]
    # A budget at which few of the methods were measured belongs to another comparison.
    methods = directed.groupby(["dataset", "backbone", "eps_a"])["method"].transform("nunique")
    most = methods.groupby([directed["dataset"], directed["backbone"]]).transform("max")
    chosen = directed[2 * methods >= most]
    chosen = chosen[chosen.groupby(["dataset", "backbone"])["eps_a"].transform("nunique") > 1]
    drawn = []
    if len(chosen):
        drawn.append(_draw(chosen, folder / "figure-4.png", vector, "eps_a", _edge_curve))
    rates = _label_rates(compared)
    if len(rates):
        drawn.append(_draw(rates, folder / "figure-5.png", vector, "label_rate", _rate_curve))
    return drawn


def _label_rates(compared: pd.DataFrame) -> pd.DataFrame:
    """Lines of points that were measured at several label rates, the full one included."""
    lines = classification_lines(compared, "accuracy")
    keys = ["dataset", "backbone", "method", "eps_x", "eps_a", "mode"]
    several = lines.groupby(keys)["label_rate"].transform("nunique") > 1
    return lines[several & lines["method"].isin(COLOURS)]


def _draw(
    lines: pd.DataFrame,
    path: Path,
    vector: Path | None,
    axis: str,
    curve_of: Callable[[Axes, tuple[str, str], pd.DataFrame, list[str]], None],
) -> Path:
    panels = list(lines.groupby(["dataset", "backbone"], sort=False))
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(6.5 * columns, 4.5 * rows), layout="constrained")
    spaces = figure.subplots(rows, columns, squeeze=False).ravel()
    for space in spaces[len(panels) :]:
        space.set_axis_off()
    for space, (names, panel) in zip(spaces, panels, strict=False):
        places = sorted(panel[axis].unique(), key=setting_order)
        for (method, eps_x), curve in panel.groupby(["method", "eps_x"], sort=False):
            curve_of(space, (str(method), str(eps_x)), curve, places)
        space.set_xticks(range(len(places)), places)
        space.set_title(", ".join(map(str, names)))
        space.set_ylabel("test accuracy (%)")
        space.grid(alpha=0.3)
    entries = {name: line for space in spaces for line, name in zip(*space.get_legend_handles_labels(), strict=True)}
    figure.legend(
        entries.values(), entries.keys(), loc="outside lower center", fontsize="small", ncols=3 if columns > 1 else 2
    )
    return save_figure(figure, path, dpi=110, vector=vector)


def _edge_curve(space: Axes, curve: tuple[str, str], lines: pd.DataFrame, places: list[str]) -> None:
    _plot(space, f"{curve[0]}, eps_x={curve[1]}", curve, lines, [places.index(value) for value in lines["eps_a"]])
    space.set_xlabel("eps_a (per neighbour list)")


def _rate_curve(space: Axes, curve: tuple[str, str], lines: pd.DataFrame, places: list[str]) -> None:
    lines = lines.sort_values("label_rate", key=lambda column: column.map(setting_order))
    eps_a = lines["eps_a"].iloc[0]
    label = f"{curve[0]}, eps_x={curve[1]}, eps_a={eps_a}"
    _plot(space, label, curve, lines, [places.index(value) for value in lines["label_rate"]])
    space.set_xlabel("label rate (share of all labelled nodes)")


def _plot(space: Axes, label: str, curve: tuple[str, str], lines: pd.DataFrame, at: list[int]) -> None:
    method, eps_x = curve
    marker, opacity = BUDGETS.get(eps_x, ("s", 1.0))
    style: dict[str, Any] = {"color": COLOURS[method], "marker": marker, "markersize": 5, "alpha": opacity}
    spread = [0.0 if math.isnan(sd) else 100 * sd for sd in lines["sd"]]
    space.errorbar(at, 100 * lines["mean"], yerr=spread, capsize=2, label=label, **style)
    published = [(place, 100 * mean) for place, mean in zip(at, lines["reference_mean"], strict=True) if mean == mean]
    if published:
        hollow: dict[str, Any] = {
            "linestyle": "--",
            "linewidth": 1,
            "markerfacecolor": "white",
            "label": f"{label} (published)",
        }
        space.plot(*zip(*published, strict=True), **style, **hollow)
