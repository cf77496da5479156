"""Accuracy against the edge budget, one curve per feature budget: the form of Solitude's figure 4."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from tasks.evaluation.node_classification.solitude_tables import full_lines
from tasks.evaluation.tables.figure_files import save_figure
from tasks.evaluation.tables.rows import setting_order


def draw_accuracy(table: pd.DataFrame, path: Path, vector: Path | None = None) -> None:
    """One panel per (data set, backbone), one curve per (method, eps_x), bars of one standard deviation.

    Budgets stand at equal distances, so that "inf" has a place. Lines at a lower label rate or in ``pair`` mode have
    tables of their own. Writes a PNG file, and PDF and SVG below ``vector``; equal tables give equal bytes.
    """
    accuracy = full_lines(table)
    accuracy = accuracy[accuracy["mode"] != "pair"] if len(accuracy) else accuracy
    panels = list(accuracy.groupby(["dataset", "backbone"], sort=False))
    figure = Figure(figsize=(5 * max(len(panels), 1), 4), layout="constrained")
    axes = figure.subplots(1, max(len(panels), 1), squeeze=False, sharey=True)[0]
    for axis, ((dataset, backbone), panel) in zip(axes[: len(panels)], panels, strict=True):
        budgets = sorted(panel["eps_a"].unique(), key=setting_order)
        for (method, eps_x), curve in panel.groupby(["method", "eps_x"], sort=False):
            places = [budgets.index(budget) for budget in curve["eps_a"]]
            spread = [0.0 if math.isnan(sd) else sd for sd in curve["sd"]]
            axis.errorbar(places, curve["mean"], yerr=spread, marker="o", capsize=3, label=f"{method}, eps_x={eps_x}")
        axis.set_xticks(range(len(budgets)), budgets)
        axis.set_xlabel("eps_a (per neighbour list)")
        axis.set_ylabel("test accuracy (mean, one standard deviation)")
        axis.set_title(f"{dataset}, {backbone}")
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small")
    save_figure(figure, path, vector=vector)
