"""All results of a study: one table per data set, controls marked as such."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from tasks.evaluation.report_page.blocks import Cell, Table
from tasks.evaluation.tables.controls import Controls, control_of
from tasks.evaluation.tables.rows import setting_order
from tasks.evaluation.tables.summary import cell, setting_names, shown_metrics

COSTS = ("search_points", "messages_per_walk", "bytes_per_walk", "expected_messages")


def result_tables(table: pd.DataFrame, study: str, headlines: Sequence[str], controls: Controls) -> list[Table]:
    """Headline metrics of every point of a study; settings that are the same everywhere stand in the caption."""
    part = table[table["study"] == study]
    return [
        _table(
            lines,
            [name for name in shown_metrics(lines, headlines) if name not in COSTS],
            f"results-{study.replace('_', '-')}-{dataset}",
            f"{dataset}: mean ± standard deviation (repeats)",
            controls,
        )
        for dataset, lines in part.groupby("dataset", sort=False)
    ]


def cost_tables(table: pd.DataFrame, controls: Controls) -> list[Table]:
    """What was recorded of the cost: configurations of hyper-parameters trained, and messages and bytes of walks."""
    tables = _searches(table[table["metric"] == "search_points"])
    walks = table[table["metric"].isin(COSTS[1:])]
    for dataset, lines in walks.groupby("dataset", sort=False):
        metrics = [name for name in COSTS[1:] if name in set(lines["metric"])]
        caption = f"{dataset}: messages between devices and bytes of a walk, mean ± standard deviation (repeats)"
        tables.append(_table(lines, metrics, f"cost-walks-{dataset}", caption, controls))
    return tables


def _searches(lines: pd.DataFrame) -> list[Table]:
    if lines.empty:
        return []
    rows = []
    for (dataset, method, backbone), own in lines.groupby(["dataset", "method", "backbone"], sort=False):
        searches, trained = int(own["repeats"].sum()), float((own["mean"] * own["repeats"]).sum())
        rows.append((dataset, method, backbone, str(searches), f"{trained / searches:.1f}", f"{trained:.0f}"))
    columns = ("data set", "method", "backbone", "searches", "points per search", "points compared")
    caption = "Hyper-parameter searches: one for each pair of reports and repeat, and the points that they compared"
    cells = tuple(tuple(Cell(str(text)) for text in row) for row in rows)
    return [Table("cost-searches", caption, columns, cells)]


def _table(lines: pd.DataFrame, metrics: Sequence[str], name: str, caption: str, controls: Controls) -> Table:
    settings = [setting for setting in setting_names(lines) if (lines[setting] != "").any()]
    shared = [setting for setting in settings if lines[setting].nunique() == 1]
    settings = [setting for setting in settings if setting not in shared]
    keys = ["method", *settings]
    points = lines[keys].drop_duplicates().sort_values(keys, key=lambda column: column.map(setting_order))
    cells = {
        (*(line[key] for key in keys), line["metric"]): cell(line["mean"], line["sd"], line["repeats"])
        for line in lines.to_dict("records")
    }
    whole: dict[tuple[Any, ...], str] = {
        tuple(line[key] for key in keys): control_of(line, controls) for line in lines.to_dict("records")
    }
    rows = []
    for point in points.itertuples(index=False, name=None):
        control = whole[point]
        method = Cell(point[0], mark="control" if control else "")
        values = (Cell(cells.get((*point, metric), "")) for metric in metrics)
        rows.append((method, *(Cell(value) for value in point[1:]), *values, Cell(control)))
    common = ", ".join(f"{setting}={lines[setting].iloc[0]}" for setting in shared)
    caption = f"{caption}; all at {common}" if common else caption
    return Table(name, caption, (*keys, *metrics, "control"), tuple(rows))
