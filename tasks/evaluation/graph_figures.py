"""Table 1 of Jin & Chen (IJCAI 2022) as a figure: accuracy against the budget, beside the published figures."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tasks.epsilon import INFINITE, epsilon_sort_key

LINES = {"node-count": ("black", "--"), "svm-gw": ("grey", "-."), "svm-fgw": ("grey", ":"), "spk": ("grey", "--")}
"""Colour and dash of the methods that have no budget."""


def draw_graphs(compared: pd.DataFrame, folder: Path) -> list[Path]:
    """Draws ``accuracy_by_epsilon.png`` from a summary beside the reference; equal tables give equal bytes.

    One panel for each (data set, backbone): a curve for each encoder, bars of one standard deviation, with the machine
    without noise at ``inf``; horizontal lines for the baselines and the node-count control; crosses for published
    figures. Budgets stand at equal distances; under ``gaussian_scale`` a larger one is more noise.
    """
    if "input" not in compared:
        return []
    accuracy = compared[(compared["study"] == "graph_classification") & (compared["metric"] == "accuracy")]
    embedded = accuracy[accuracy["eps"] != ""]
    panels = list(embedded.groupby(["dataset", "backbone"], sort=False))
    if not panels:
        return []
    figure = Figure(figsize=(6 * len(panels), 4.5), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axis, ((dataset, backbone), panel) in zip(axes, panels, strict=True):
        _curves(axis, panel)
        baselines = accuracy[(accuracy["dataset"] == dataset) & (accuracy["eps"] == "")]
        _lines(axis, baselines[baselines["backbone"].isin(["", backbone])])
        axis.set_xlabel("eps")
        axis.set_ylabel("test accuracy (mean, one standard deviation)")
        axis.set_title(f"{dataset}, {backbone}")
        axis.grid(alpha=0.3)
        axis.legend(fontsize="x-small")
    path = folder / "accuracy_by_epsilon.png"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, metadata={"Software": None})
    return [path]


def _curves(axis: Axes, panel: pd.DataFrame) -> None:
    budgets = sorted(panel["eps"].unique(), key=epsilon_sort_key)
    axis.set_xticks(range(len(budgets)), budgets)
    for encoder, curve in panel.groupby("encoder", sort=False):
        ordered = curve.assign(place=[budgets.index(eps) for eps in curve["eps"]]).sort_values("place")
        spread = [0.0 if math.isnan(sd) else sd for sd in ordered["sd"]]
        noise = "without noise" if set(curve["eps"]) == {INFINITE} else str(encoder)
        axis.errorbar(ordered["place"], ordered["mean"], yerr=spread, marker="o", capsize=3, label=noise)
    known = panel[panel["item"] != ""].drop_duplicates("eps")
    if len(known):
        places = [budgets.index(eps) for eps in known["eps"]]
        axis.scatter(places, known["reference_mean"], marker="x", color="red", zorder=3, label="published")


def _lines(axis: Axes, baselines: pd.DataFrame) -> None:
    for line in baselines.to_dict("records"):
        colour, dash = LINES.get(line["method"], ("green", "--"))
        name = line["method"] if line["method"] == "node-count" else f"{line['method']}, raw"
        axis.axhline(line["mean"], color=colour, linestyle=dash, linewidth=1, label=name)
