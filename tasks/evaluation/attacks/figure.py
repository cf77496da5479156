"""What attacks find, drawn beside what the data are good for, against the budget of a neighbour list."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tasks.evaluation.tables.rows import setting_order


def draw_attacks(table: pd.DataFrame, path: Path) -> None:
    """AUC against the budget on the left, test accuracy of the same models on the right; bars of one deviation.

    Budgets stand at equal distances, so that "inf" has a place; a set of graphs has one panel, of membership, and
    FedWalk's uploads have one of the edges recovered. Writes a PNG file; equal tables give equal bytes.
    """
    by_graph = "eps_a" in table.columns
    figure = Figure(figsize=(11 if by_graph else 6, 4.5), layout="constrained")
    if by_graph:
        attacks, accuracy = figure.subplots(1, 2)
        reports = table[(table["attack"] == "edges") & (table["metric"] == "auc")]
        links = table[(table["attack"] == "links") & (table["reading"] == "correlation") & (table["metric"] == "auc")]
        models = table[table["metric"] == "accuracy"]
        _curves(
            attacks, reports, "eps_a", "reading", "edges from reports: {}", "-", budgets := _budgets(models, "eps_a")
        )
        _curves(attacks, links, "eps_a", "method", "links from posteriors: {}", "--", budgets)
        _curves(accuracy, models, "eps_a", "method", "{}", "-", budgets)
        attacks.axhline(0.5, color="grey", linewidth=0.8)
        _finish(attacks, "eps_a (per neighbour list)", "AUC of the attack", budgets)
        _finish(accuracy, "eps_a (per neighbour list)", "test accuracy", budgets)
    elif "upload" in table.columns:
        axis = figure.subplots()
        lines = table[table["metric"] == "precision"]
        encoded = lines[lines["eps_encoder"] != ""]
        encoded = encoded.assign(curve=encoded["upload"] + ": " + encoded["reading"])
        _curves(axis, encoded, "eps_encoder", "curve", "{}", "-", budgets := _budgets(encoded, "eps_encoder"))
        for line in lines[lines["eps_encoder"] == ""].to_dict("records"):
            axis.axhline(line["mean"], linewidth=0.8, color="grey")
            axis.annotate(line["upload"], (0, line["mean"]), fontsize="x-small")
        _finish(axis, "eps_encoder (per level of the tree, or bit)", "share of edges in |E| guesses", budgets)
    else:
        axis = figure.subplots()
        members = table[table["attack"] == "membership"]
        _curves(axis, members, "eps", "reading", "membership by {}", "-", budgets := _budgets(members, "eps"))
        axis.axhline(0.5, color="grey", linewidth=0.8)
        _finish(axis, "eps (per graph)", "AUC of the attack", budgets)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, metadata={"Software": None})


def _budgets(part: pd.DataFrame, name: str) -> list[str]:
    return sorted(part[name].unique(), key=lambda value: (value != "1/n", setting_order(value)))


def _curves(axis: Axes, part: pd.DataFrame, budget: str, by: str, label: str, line: str, budgets: list[str]) -> None:
    for name, curve in part.groupby(by, sort=True):
        places = [budgets.index(value) for value in curve[budget]]
        order = sorted(range(len(places)), key=places.__getitem__)
        axis.errorbar(
            [places[i] for i in order],
            curve["mean"].to_numpy()[order],
            yerr=curve["sd"].fillna(0).to_numpy()[order],
            fmt="o" + line,
            markersize=4,
            capsize=3,
            label=label.format(name),
        )


def _finish(axis: Axes, along: str, up: str, budgets: list[str]) -> None:
    axis.set_xticks(range(len(budgets)), budgets)
    axis.set_xlabel(along)
    axis.set_ylabel(f"{up} (mean, one standard deviation)")
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")
