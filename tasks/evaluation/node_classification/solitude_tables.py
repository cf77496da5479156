"""The Solitude paper's comparisons, from a summary that stands beside the published figures (``reference.beside``)."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from tasks.datasets.label_rates import FULL
from tasks.epsilon import INFINITE, canonical_epsilon
from tasks.evaluation.tables.rows import setting_order
from tasks.evaluation.tables.summary import write_csv

SETTINGS = ("backbone", "eps_x", "eps_a", "label_rate", "mode")
TABLES = ("table-3.csv", "verdicts.csv", "equal-relation-budget.csv", "edges-told-apart.csv")


def write_solitude_tables(compared: pd.DataFrame, folder: Path) -> None:
    """Writes ``TABLES``; a table without a line has its header alone."""
    for name, table in zip(
        TABLES,
        (table_three(compared), verdicts(compared), equal_relation_budget(compared), edges_told_apart(compared)),
        strict=True,
    ):
        write_csv(folder / name, table.round(4))


def full_lines(compared: pd.DataFrame, metric: str = "accuracy") -> pd.DataFrame:
    """Lines of the classification study at the full label rate."""
    lines = classification_lines(compared, metric)
    return lines[lines["label_rate"] == f"{FULL:g}"]


def directed_lines(compared: pd.DataFrame) -> pd.DataFrame:
    """Accuracies at the full label rate of what both ends of a relation reported."""
    lines = full_lines(compared)
    return lines[lines["mode"] == "directed"]


def classification_lines(compared: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Lines of the classification study; of another study's summary none, with the columns that they would have."""
    lines = compared[(compared["study"] == "node_classification") & (compared["metric"] == metric)]
    if set(SETTINGS) <= set(lines.columns):
        return lines
    return lines.iloc[:0].reindex(columns=list(dict.fromkeys([*lines.columns, *SETTINGS])))


def table_three(compared: pd.DataFrame) -> pd.DataFrame:
    """One line per (data set, backbone, method, eps_x), one column per eps_a: percent, ours and (published).

    Directed reports alone; a cell reads ``66.1 ± 2.5 (60.8 ± 2.0)``, in brackets what was published for it.
    """
    lines = directed_lines(compared)
    keys = ["dataset", "backbone", "method", "eps_x"]
    if lines.empty:
        return pd.DataFrame(columns=keys)
    cells = lines.assign(cell=[_cell(line) for line in lines.to_dict("records")])
    wide = cells.pivot_table(index=keys, columns="eps_a", values="cell", aggfunc="first", sort=False)
    budgets = sorted((str(name) for name in wide.columns), key=setting_order)
    return wide[budgets].fillna("").reset_index()


def verdicts(compared: pd.DataFrame) -> pd.DataFrame:
    """One line per published cell and method of ours: how far above its mean, and above its mean less one deviation.

    A method of the paper meets its own published figure; every other method meets the paper's Solitude. Columns in
    points of accuracy: ``difference`` and ``margin`` (to mean - sd for a method of the paper, to the mean for others).
    """
    columns = ["dataset", "backbone", "method", "eps_x", "eps_a", "against", "mean", "sd", "repeats", "published"]
    columns += ["published_sd", "difference", "margin", "met"]
    lines = directed_lines(compared)
    where = ["dataset", "backbone", "eps_x", "eps_a"]
    paper = lines[(lines["method"] == "solitude") & (lines["item"] != "")].set_index(where)
    rows = []
    for line in lines.to_dict("records"):
        place = tuple(line[name] for name in where)
        own = line["item"] != ""
        if not own and place not in paper.index:
            continue
        beside = line if own else paper.loc[place].to_dict()
        mean, sd = beside["reference_mean"], beside["reference_sd"]
        bar = mean - (sd if own and not math.isnan(sd) else 0.0)
        difference, margin = (100 * (line["mean"] - figure) for figure in (mean, bar))
        against = line["method"] if own else "solitude"
        found = (line["dataset"], line["backbone"], line["method"], line["eps_x"], line["eps_a"], against)
        rows.append((*found, line["mean"], line["sd"], line["repeats"], mean, sd, difference, margin, margin >= 0))
    return pd.DataFrame(rows, columns=columns)


def equal_relation_budget(compared: pd.DataFrame) -> pd.DataFrame:
    """Accuracy by the budget of a relation: eps_a in ``pair`` mode, twice that where both ends report it.

    Only budgets that were met in both ways are listed.
    """
    columns = ["dataset", "backbone", "relation_epsilon", "mode", "eps_a", "method", "eps_x", "mean", "sd", "repeats"]
    lines = full_lines(compared)
    lines = lines[lines["eps_a"] != INFINITE]
    if lines.empty:
        return pd.DataFrame(columns=columns)
    factor = lines["mode"].map({"pair": 1}).fillna(2)
    budgets = [canonical_epsilon(float(eps) * times) for eps, times in zip(lines["eps_a"], factor, strict=True)]
    lines = lines.assign(relation_epsilon=budgets)
    both = lines.groupby(["dataset", "relation_epsilon"])["mode"].transform(lambda modes: modes.nunique() > 1)
    found = lines[both.astype(bool)][columns]
    order = ["dataset", "backbone", "relation_epsilon", "mode", "method"]
    return found.sort_values(order, key=lambda column: column.map(setting_order)).reset_index(drop=True)


def edges_told_apart(compared: pd.DataFrame) -> pd.DataFrame:
    """Per line whose method calibrates the graph: AUC of true against false reported edges, beside accuracy.

    ``true_edges_kept`` is a share, ``false_edges_kept`` a count; both of directed entries.
    """
    metrics = ["edge_auc", "true_edges_kept", "false_edges_kept", "accuracy"]
    keys = ["dataset", "backbone", "method", "eps_x", "eps_a", "mode"]
    frames = []
    for metric in metrics:
        lines = full_lines(compared, metric).drop_duplicates(keys)
        frames.append(lines[[*keys, "mean", "sd"]].rename(columns={"mean": metric, "sd": f"{metric}_sd"}))
    table = frames[0]
    for frame in frames[1:]:
        table = table.merge(frame, on=keys, how="left")
    return table


def _cell(line: dict) -> str:
    ours = _percent(line["mean"], line["sd"])
    return ours if line["item"] == "" else f"{ours} ({_percent(line['reference_mean'], line['reference_sd'])})"


def _percent(mean: float, sd: float) -> str:
    return f"{100 * mean:.1f}" if math.isnan(sd) else f"{100 * mean:.1f} ± {100 * sd:.1f}"
