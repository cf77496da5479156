"""The published figures (``data/reference``), and ours beside them."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from tasks.errors import UserError
from tasks.evaluation.tables.summary import setting_names

# The paper's CiteSeer row mixes two graphs, so both of ours stand beside it.
PUBLISHED_AS = {"citeseer-lcc": "citeseer"}
_FIXED = ["item", "dataset", "method", "metric", "reference_mean", "reference_sd"]


def read_reference(path: Path) -> pd.DataFrame:
    """Published figures in the names and units of our rows.

    Columns: item (table or figure), dataset (lower case), method, the settings (text), metric, reference_mean,
    reference_sd (NaN where none is published). A metric ``test_x_percent`` becomes ``x`` as a fraction.

    Raises:
        UserError: when the file is missing or lacks a column.
    """
    if not path.is_file():
        raise UserError(f"{path}: the published figures are missing; restore the file from the repository")
    raw = pd.read_csv(path, dtype=str, keep_default_na=False)
    raw = raw.rename(columns={"table": "item", "figure": "item", "mean": "reference_mean", "std": "reference_sd"})
    raw = raw.rename(columns={"value": "reference_mean"}).drop(columns="source")
    if "metric" not in raw:
        # A file of one metric has it in the name of its last column.
        metric = raw.columns[-1]
        raw = raw.rename(columns={metric: "reference_mean"}).assign(metric=metric)
    if "reference_sd" not in raw:
        raw["reference_sd"] = ""
    if missing := set(_FIXED) - set(raw.columns):
        raise UserError(f"{path}: column {', '.join(sorted(missing))} is missing")
    scale = raw["metric"].str.endswith("_percent").map({True: 0.01, False: 1.0})
    for column in ("reference_mean", "reference_sd"):
        raw[column] = raw[column].map(lambda text: float(text or "nan")) * scale
    raw["metric"] = raw["metric"].str.removeprefix("test_").str.removesuffix("_percent")
    raw["dataset"] = raw["dataset"].str.lower()
    settings = [name for name in raw.columns if name not in _FIXED]
    return raw[["item", "dataset", "method", *settings, "metric", "reference_mean", "reference_sd"]]


def beside(ours: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """Every line of a summary with each published figure for the same point, or with none.

    Settings are compared as numbers where they are numbers ("7" equals "7.0"). A setting that the reference states
    must be one of ours; one that only ours has (a calibration's option) does not prevent a match.
    Adds item, reference_mean, reference_sd and difference_points: (ours - reference) * 100.
    """
    names = setting_names(reference)
    left, right = ours.copy(), reference.copy()
    left["_dataset"] = [PUBLISHED_AS.get(name, name).lower() for name in ours["dataset"]]
    right["_dataset"] = reference["dataset"]
    for name in names:
        left[f"_{name}"] = [_number(value) for value in ours[name]] if name in ours else ""
        right[f"_{name}"] = [_number(value) for value in reference[name]]
    keys = ["_dataset", "method", *(f"_{name}" for name in names), "metric"]
    joined = left.merge(right[[*keys, "item", "reference_mean", "reference_sd"]], on=keys, how="left")
    joined["item"] = joined["item"].fillna("")
    joined["difference_points"] = (joined["mean"] - joined["reference_mean"]) * 100
    return joined[[*ours.columns, "item", "reference_mean", "reference_sd", "difference_points"]]


def _number(value: str) -> str:
    try:
        number = float(value)
    except ValueError:
        return value
    return value if math.isnan(number) else repr(number)
