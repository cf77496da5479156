"""Summaries over repeats, for the console, for CSV, and beside the published figures.

Which metrics the console shows is declared by the study (``headlines`` of its ``StudyDeclaration``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from tasks.atomic_write import write_atomically
from tasks.datasets.label_rates import FULL
from tasks.errors import UserError
from tasks.evaluation.tables.rows import Row, setting_order, sorted_rows

USUAL = {"label_rate": f"{FULL:g}", "mode": "directed"}
"""Settings that are not worth a word: the console leaves them out where every line has this value."""


def setting_names(frame: pd.DataFrame) -> list[str]:
    """The columns of a summary that are settings: those between ``method`` and ``metric``."""
    columns = list(frame.columns)
    return columns[columns.index("method") + 1 : columns.index("metric")]


def summary(rows: Iterable[Row]) -> pd.DataFrame:
    """Mean, standard deviation (ddof=1; NaN for one repeat) and repeats per point and metric.

    Columns: study, dataset, method, one per setting (text, empty where a method has none), metric, mean, sd, repeats;
    sorted like the rows.

    Raises:
        UserError: when a point has two values of one metric in the same repeat.
    """
    ordered = sorted_rows(rows)
    names = sorted({name for row in ordered for name in row.settings})
    keys = ["study", "dataset", "method", *names, "metric"]
    records = [
        (
            row.study,
            row.dataset,
            row.method,
            *(row.settings.get(name, "") for name in names),
            row.metric,
            row.repeat,
            float(row.value),
        )
        for row in ordered
    ]
    frame = pd.DataFrame(records, columns=[*keys, "repeat", "value"])
    twice = frame[frame.duplicated([*keys, "repeat"])]
    if len(twice):
        raise UserError(f"measured twice: {', '.join(str(value) for value in twice.iloc[0][[*keys, 'repeat']])}")
    grouped = frame.groupby(keys, sort=False)["value"]
    return grouped.agg(mean="mean", sd="std", repeats="count").reset_index()


def cell(mean: float, sd: float, repeats: int) -> str:
    """``0.834 ± 0.008 (5)``; without the deviation for one repeat; one decimal for counts of ten and more."""
    digits = 3 if abs(mean) < 10 else 1
    spread = "" if math.isnan(sd) else f" ± {sd:.{digits}f}"
    return f"{mean:.{digits}f}{spread} ({repeats})"


def shown_metrics(frame: pd.DataFrame, headlines: Sequence[str]) -> list[str]:
    """The metrics that a table of a summary shows: the study's headlines, or all where it has none of these."""
    found = set(frame["metric"])
    return [name for name in headlines if name in found] or sorted(found)


def console_table(frame: pd.DataFrame, headlines: Sequence[str]) -> str:
    """A summary as aligned text: one line per point, one column per metric that is shown.

    Metrics that accompany these are in the table's CSV form.
    """
    metrics = shown_metrics(frame, headlines)
    frame = frame[frame["metric"].isin(metrics)]
    shown = [name for name in setting_names(frame) if set(frame[name]) - {USUAL.get(name)}]
    keys = ["dataset", "method", *shown]
    cells = [cell(*values) for values in zip(frame["mean"], frame["sd"], frame["repeats"], strict=True)]
    wide = frame[[*keys, "metric"]].assign(cell=cells).pivot(index=keys, columns="metric", values="cell")
    wide = wide[metrics]
    points = frame[keys].drop_duplicates()
    points = points.sort_values(keys, key=lambda column: column.map(setting_order))
    return _aligned(points.merge(wide.reset_index(), on=keys, how="left").fillna(""))


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Writes a table as CSV, whole or not at all; missing numbers are empty."""
    write_atomically(path, frame.to_csv(index=False, lineterminator="\n"))


def _aligned(frame: pd.DataFrame) -> str:
    lines = [[str(name) for name in frame.columns], *([str(value) for value in row] for row in frame.to_numpy())]
    widths = [max(len(line[i]) for line in lines) for i in range(len(frame.columns))]
    padded = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([padded[0], "-" * len(padded[0]), *padded[1:]])
