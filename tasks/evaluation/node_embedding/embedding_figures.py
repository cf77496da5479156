"""FedWalk's figures 6 to 8: micro-F1 against bins, budget and two-hop prediction, with what the setting costs below.

A figure is drawn only from lines that have more than one value of its setting. Scores are those of the ``top_k``
protocol, the paper's. The paper prints no values but relative changes: a thin dashed line starts where ours does and
ends where the printed change would lead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tasks.evaluation.node_embedding.embedding_changes import Change
from tasks.evaluation.node_embedding.embedding_lines import HALF, SETTINGS, embedding_lines, named_mode
from tasks.evaluation.node_embedding.embedding_tables import FEW_EDGES
from tasks.evaluation.tables.figure_files import save_figure
from tasks.evaluation.tables.rows import setting_order


@dataclass(frozen=True)
class EmbeddingFigure:
    """One of the figures.

    Attributes:
        file: its name.
        setting, name: what stands on the horizontal axis.
        panels: settings that have a column of panels for each of their values; the others tell curves apart.
        ratios: training ratios that are drawn, where there are more.
        cost, cost_name: the metric of the lower row of panels, none if empty.
    """

    file: str
    setting: str
    name: str
    panels: tuple[str, ...]
    ratios: tuple[str, ...] = (HALF,)
    cost: str = ""
    cost_name: str = ""


FIGURES = (
    EmbeddingFigure(
        "micro_f1_by_bins.png", "k", "k, bins of neighbours", ("dataset", "walks"), ("0.1", "0.2", "0.5", "0.6")
    ),
    EmbeddingFigure(
        "micro_f1_by_epsilon.png",
        "eps_encoder",
        "eps_encoder, per level of the tree (per bit for randomized-response)",
        ("dataset", "walks"),
        cost="edge_recall",
        cost_name="share of the edges given away",
    ),
    EmbeddingFigure(
        "micro_f1_by_prediction.png",
        "p",
        "p, probability of a two-hop prediction",
        ("dataset",),
        cost="messages_per_walk",
        cost_name="messages between devices in a walk",
    ),
)
CURVES = ("mode", "train_ratio", "walks", "eps_encoder", "k", "p")
MODES = ("walk", "walk-random-tree", "walk-paper-tree", "release-once", "randomized-response")
MARKERS = "osD^vP"
PUBLISHED = "from our first value by the published change"
_DASHED: dict[str, Any] = {"linestyle": "--", "linewidth": 1}


def draw_embedding(
    table: pd.DataFrame, folder: Path, vector: Path | None = None, published: Sequence[Change] = ()
) -> list[Path]:
    """Draws the figures that a summary has the lines for; equal tables give equal bytes.

    PNG files in ``folder``, PDF and SVG below ``vector``. Bars are one standard deviation; dotted lines are DeepWalk,
    which has no such setting, in the colour of the curve with as many walks and the same training ratio.

    Args:
        table: a summary, beside the published figures or not.
        folder, vector: see above.
        published: the paper's relative changes, see ``embedding_changes.published_changes``.
    """
    scores = _of_ratio(embedding_lines(table, "micro_f1"))
    drawn = []
    for figure in FIGURES:
        panels = _panels(scores, figure)
        if panels:
            costs = _of_ratio(embedding_lines(table, figure.cost)) if figure.cost else None
            drawn.append(_draw(table, panels, costs, figure, folder / figure.file, vector, published))
    return drawn


def _of_ratio(lines: pd.DataFrame) -> pd.DataFrame:
    """Top-k lines, each once: several published figures may stand beside one."""
    return lines[lines["scoring"] == "top_k"].drop_duplicates(["dataset", *SETTINGS])


Panel = tuple[str, pd.DataFrame, pd.DataFrame]
"""Title, lines that curves go through, and DeepWalk's."""


def _panels(scores: pd.DataFrame, figure: EmbeddingFigure) -> list[Panel]:
    """One for each column of panels; one with half as many values as another, or fewer, is left out."""
    clear, found = scores[scores["mode"] == "deepwalk"], []
    for place, panel in scores[scores[figure.setting] != ""].groupby(list(figure.panels), sort=False):
        chosen = panel[panel["train_ratio"].isin(figure.ratios)]
        panel = chosen if len(chosen) else panel
        others = [name for name in SETTINGS if name != figure.setting]
        panel = panel[panel.groupby(others)[figure.setting].transform("nunique") > 1]
        if len(panel):
            walks = [f"{value} walks a vertex" for value in place[1:]]
            same = (clear[name].isin(panel[name]) for name in ("dataset", "walks", "train_ratio"))
            found.append((", ".join([str(place[0]), *walks]), panel, clear[reduce(and_, same)]))
    most = max((panel[figure.setting].nunique() for _, panel, _ in found), default=0)
    return [panel for panel in found if 2 * panel[1][figure.setting].nunique() > most]


def _draw(
    table: pd.DataFrame,
    panels: list[Panel],
    costs: pd.DataFrame | None,
    figure: EmbeddingFigure,
    path: Path,
    vector: Path | None,
    published: Sequence[Change],
) -> Path:
    rows = 1 if costs is None else 2
    canvas = Figure(figsize=(max(5.5 * len(panels), 7), 4 * rows + 0.6), layout="constrained")
    grid = canvas.subplots(rows, len(panels), squeeze=False)
    for (title, panel, clear), axes in zip(panels, grid.T, strict=True):
        varying = _varying(panel, figure)
        ratios = panel["train_ratio"].unique()
        colours = _curves(axes[0], panel, figure, varying, published)
        for line in clear.to_dict("records"):
            colour = colours.get((line["walks"], line["train_ratio"]), "grey") if len(clear) > 1 else "grey"
            axes[0].axhline(line["mean"], linestyle=":", color=colour)
        axes[0].set_title(title + (f", training ratio {ratios[0]}" if len(ratios) == 1 else ""))
        axes[0].set_ylabel("micro-F1, top_k")
        if costs is not None:
            below = panel[["dataset", *SETTINGS]].merge(costs, on=["dataset", *SETTINGS], how="inner")
            _curves(axes[1], below, figure, varying)
            axes[1].set_ylabel(figure.cost_name)
            if figure.cost == "edge_recall":
                _baseline(axes[1], embedding_lines(table, "edge_degree_recall"), panel)
                axes[1].set_ylim(-0.03, 1.03)
        for axis in axes:
            axis.grid(alpha=0.3)
        axes[-1].set_xlabel(figure.name)
    legends = [axis.get_legend_handles_labels() for axis in grid.ravel()]
    entries = {name: line for legend in legends for line, name in zip(*legend, strict=True)}
    if any(len(clear) for _, _, clear in panels):
        entries["deepwalk"] = Line2D([], [], linestyle=":", color="grey")
    if PUBLISHED in entries:
        entries[PUBLISHED] = Line2D([], [], **_DASHED, color="grey")
    canvas.legend(entries.values(), entries.keys(), loc="outside lower center", fontsize="small", ncols=2)
    return save_figure(canvas, path, vector=vector)


def _baseline(axis: Axes, lines: pd.DataFrame, panel: pd.DataFrame) -> None:
    """What noisy degrees alone give away of a panel's data set, and a tenth of the edges more."""
    told = lines[lines["dataset"].isin(panel["dataset"])]["mean"]
    if len(told):
        axis.axhline(told.mean(), linestyle=":", color="black", linewidth=1, label="noisy degrees alone")
        few = told.mean() + FEW_EDGES
        axis.axhline(few, linestyle="--", color="black", linewidth=1, label="a tenth of the edges more")


def _varying(panel: pd.DataFrame, figure: EmbeddingFigure) -> list[str]:
    """The settings that tell the curves of one panel apart; a mode's own number of bins does not."""
    names = [name for name in CURVES if name != figure.setting]
    return [name for name in names if panel[panel[name] != ""].groupby("mode")[name].nunique().max() > 1]


def _curves(
    axis: Axes, panel: pd.DataFrame, figure: EmbeddingFigure, varying: list[str], published: Sequence[Change] = ()
) -> dict[tuple[str, str], str]:
    """Draws the curves of a panel; returns their colours by number of walks and training ratio.

    Values of the setting stand at equal distances, so that ``inf`` has a place.
    """
    values = sorted(panel[figure.setting].unique(), key=setting_order)
    axis.set_xticks(range(len(values)), values)
    others = [name for name in SETTINGS if name != figure.setting]
    several, colours = panel["mode"].nunique() > 1, {}
    for number, (_, curve) in enumerate(panel.groupby(others, sort=False)):
        curve = curve.sort_values(figure.setting, key=lambda column: column.map(setting_order))
        line = curve.iloc[0].to_dict()
        told = [named_mode(line), *(f"{name}={line[name]}" for name in varying if line[name])]
        place = MODES.index(line["mode"]) if several and line["mode"] in MODES else number
        colour = colours[line["walks"], line["train_ratio"]] = f"C{place % 10}"
        style: dict[str, Any] = {"color": colour, "marker": MARKERS[place % len(MARKERS)]}
        if line["pad"]:
            style |= {"linestyle": "-.", "markerfacecolor": "white"}
        ends = dict(zip(curve[figure.setting], curve["mean"], strict=True))
        spread = [0.0 if math.isnan(sd) else sd for sd in curve["sd"]]
        places = [values.index(value) for value in ends]
        axis.errorbar(places, curve["mean"], yerr=spread, capsize=3, markersize=5, label=" ".join(told), **style)
        for change in _changes(line, figure, published):
            if change.start in ends and change.end in ends:
                first = ends[change.start]
                where = [values.index(change.start), values.index(change.end)]
                axis.plot(where, [first, first * (1 + change.change)], **_DASHED, color=colour, label=PUBLISHED)
    return colours


def _changes(line: dict, figure: EmbeddingFigure, published: Sequence[Change]) -> Iterator[Change]:
    if line["mode"] != "walk":
        return
    for change in published:
        same = (change.dataset, change.setting) == (line["dataset"], figure.setting)
        if same and change.walks in ("", line["walks"]) and (change.train_ratio or HALF) == line["train_ratio"]:
            yield change
