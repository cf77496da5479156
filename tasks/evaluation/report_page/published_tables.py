"""Ours beside the papers': a matrix over the edge budgets for the Solitude study, and every comparison in one list."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from tasks.evaluation.node_classification.solitude_tables import directed_lines
from tasks.evaluation.report_page.blocks import Cell, Table
from tasks.evaluation.tables.controls import Controls, control_of
from tasks.evaluation.tables.rows import setting_order
from tasks.evaluation.tables.significance import judged
from tasks.evaluation.tables.summary import USUAL, cell, setting_names

COLUMNS = ("data set", "method", "settings", "metric", "ours", "published", "difference", "p", "source")
NO_NETWORK = "none"


def published_list(compared: pd.DataFrame, controls: Controls) -> Table:
    """One line per published figure: ours (repeats in brackets), theirs, the difference in points and its p-value."""
    return Table(
        "published",
        "Ours beside the published figures",
        COLUMNS,
        tuple(_line(line, setting_names(compared), controls) for line in judged(compared).to_dict("records")),
    )


def published_matrices(compared: pd.DataFrame, controls: Controls) -> list[Table]:
    """One table per (data set, backbone) of the Solitude study: methods down, edge budgets across, percent.

    Methods without a network stand in every one.
    """
    lines = directed_lines(compared).reset_index(drop=True)
    if lines.empty:
        return []
    known = judged(lines).set_index(["dataset", "backbone", "method", "eps_x", "eps_a"])["judgement"].to_dict()
    tables = []
    for (dataset, backbone), own_lines in lines.groupby(["dataset", "backbone"], sort=False):
        if (own_lines["item"] == "").all():
            continue
        part = lines[(lines["dataset"] == dataset) & lines["backbone"].isin([backbone, NO_NETWORK])]
        budgets = sorted(part["eps_a"].unique(), key=setting_order)
        rows = []
        for (method, eps_x), own in part.groupby(["method", "eps_x"], sort=False):
            found = {line["eps_a"]: line for line in own.to_dict("records")}
            marks = {eps_a: known.get((dataset, backbone, method, eps_x, eps_a), "") for eps_a in found}
            name = Cell(str(method), mark="control" if control_of({"method": method}, controls) else "")
            cells = (_percent(found[x], marks[x]) if x in found else Cell("") for x in budgets)
            rows.append((name, Cell(str(eps_x)), *cells))
        tables.append(
            Table(
                f"matrix-{dataset}-{backbone}",
                f"{dataset}, {backbone}: test accuracy in percent by eps_a; below it the published figure and the "
                "difference in points",
                ("method", "eps_x", *budgets),
                tuple(rows),
            )
        )
    return tables


def settings_text(line: dict[Any, Any], names: list[str]) -> str:
    """What tells points apart, as ``name=value``; usual values are left out."""
    return " ".join(f"{name}={line[name]}" for name in names if line[name] not in ("", USUAL.get(name)))


def _line(line: dict[Any, Any], names: list[str], controls: Controls) -> tuple[Cell, ...]:
    theirs = f"{line['reference_mean']:.3f}"
    if not math.isnan(line["reference_sd"]):
        theirs += f" ± {line['reference_sd']:.3f}"
    p_value = "" if math.isnan(line["p_value"]) else f"{line['p_value']:.3f}"
    return (
        Cell(line["dataset"]),
        Cell(line["method"], mark="control" if control_of(line, controls) else ""),
        Cell(settings_text(line, names)),
        Cell(line["metric"]),
        Cell(cell(line["mean"], line["sd"], line["repeats"])),
        Cell(theirs),
        Cell(f"{line['difference_points']:+z.1f}", mark=line["judgement"]),
        Cell("< 0.001" if p_value == "0.000" else p_value),
        Cell(line["item"]),
    )


def _percent(line: dict[Any, Any], mark: str) -> Cell:
    ours = _figure(line["mean"], line["sd"])
    if line["item"] == "":
        return Cell(ours)
    theirs = _figure(line["reference_mean"], line["reference_sd"])
    return Cell(ours, f"{theirs}; {line['difference_points']:+z.1f}", mark)


def _figure(mean: float, sd: float) -> str:
    return f"{100 * mean:.1f}" if math.isnan(sd) else f"{100 * mean:.1f} ± {100 * sd:.1f}"
