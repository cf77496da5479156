"""FedWalk's comparisons, from a summary that stands beside the published figures (``reference.beside``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from tasks.evaluation.node_embedding.embedding_changes import Change, changes_beside_published
from tasks.evaluation.node_embedding.embedding_lines import HALF, SCORINGS, SETTINGS, embedding_lines, named_mode
from tasks.evaluation.tables.rows import setting_order
from tasks.evaluation.tables.summary import write_csv

TABLES = ("deepwalk-published.csv", "embedding-modes.csv", "largest-epsilon.csv", "published-changes.csv")
FEW_EDGES = 0.1
"""An upload gives little away if it gives a smaller share of the edges away beyond what noisy degrees alone tell."""
F1 = ("micro_f1", "macro_f1")
LEAKS = {"edges_given_away": "edge_recall", "blind_guess": "edge_base_rate", "degrees_alone": "edge_degree_recall"}
COSTS = ("messages_per_walk", "expected_messages", "bytes_per_walk")
SHOWN = ("edges_given_away", "degrees_alone", "beyond_degrees")
SCORES = [f"{metric} {scoring}" for scoring in SCORINGS for metric in F1]


def write_embedding_tables(compared: pd.DataFrame, folder: Path, published: Sequence[Change] = ()) -> None:
    """Writes ``TABLES``; a table without a line has its header alone.

    Args:
        compared: see ``reference.beside``.
        folder: receives the files.
        published: the paper's relative changes, see ``embedding_changes.published_changes``.
    """
    tables = (
        deepwalk_beside_published(compared),
        modes_in_one_table(compared),
        largest_epsilon(compared),
        changes_beside_published(compared, list(published)),
    )
    for name, table in zip(TABLES, tables, strict=True):
        write_csv(folder / name, table.round(4))


def deepwalk_beside_published(compared: pd.DataFrame) -> pd.DataFrame:
    """DeepWalk under its own protocol (top-k), with all its walks, by training ratio: percent, ours and published."""
    columns = ["dataset", "metric", "train_ratio", "walks", "repeats", "ours", "sd", "published", "difference_points"]
    lines = pd.concat([embedding_lines(compared, metric) for metric in F1])
    lines = lines[(lines["mode"] == "deepwalk") & (lines["scoring"] == "top_k")]
    lines = lines[lines["item"] != ""] if len(lines) else lines
    lines = lines[lines["walks"] == max(lines["walks"], key=setting_order, default="")]
    percent = {"ours": "mean", "sd": "sd", "published": "reference_mean"}
    found = lines.assign(**{name: 100 * lines.get(column, pd.Series(dtype=float)) for name, column in percent.items()})
    return found.reindex(columns=columns).reset_index(drop=True)


def modes_in_one_table(compared: pd.DataFrame) -> pd.DataFrame:
    """Every mode and baseline, one line by training ratio: F1 under both protocols, and what the uploads give away.

    ``below_deepwalk`` are points of micro-F1 (top-k) below our DeepWalk with as many walks, positive for a loss;
    ``edges_given_away`` is a share; a blind guess hits ``blind_guess``, and an observer who has noisy degrees alone
    ``degrees_alone``. ``beyond_degrees`` is the excess over the latter; below zero, this way to read the uploads is
    weaker than to ignore them.
    """
    keys = ["dataset", *(name for name in SETTINGS if name != "scoring")]
    columns = [*keys, "repeats", *SCORES, "sd", "below_deepwalk"]
    columns += ["edges_given_away", "blind_guess", "degrees_alone", "beyond_degrees", *COSTS]
    lines = embedding_lines(compared, "micro_f1")
    if lines.empty:
        return pd.DataFrame(columns=columns)
    top = _first(lines[lines["scoring"] == "top_k"], keys)
    found = top[[*keys, "repeats", "sd"]].assign(sd=100 * top["sd"])
    for name in SCORES:
        metric, scoring = name.split()
        scored = embedding_lines(compared, metric)
        found[name] = 100 * _matched(found, _first(scored[scored["scoring"] == scoring], keys), keys)
    for name, metric in (LEAKS | {cost: cost for cost in COSTS}).items():
        found[name] = _matched(found, _first(embedding_lines(compared, metric), keys), keys)
    found["beyond_degrees"] = found["edges_given_away"] - found["degrees_alone"]
    clear = found[found["mode"] == "deepwalk"].set_index(["dataset", "walks", "train_ratio"])["micro_f1 top_k"]
    beside = [clear.get(place) for place in zip(found["dataset"], found["walks"], found["train_ratio"], strict=True)]
    found["below_deepwalk"] = pd.Series(beside, index=found.index, dtype=float) - found["micro_f1 top_k"]
    return found[columns]


def largest_epsilon(compared: pd.DataFrame) -> pd.DataFrame:
    """By mode the largest budget that gives away under a tenth of the edges beyond noisy degrees, and F1 (percent).

    One line for each (data set, mode, p, k, walks) at a training ratio of one half; ``eps_encoder`` is empty where
    every budget of ``measured`` gives more away, or the degrees' share was not measured.
    """
    modes = modes_in_one_table(compared)
    modes = modes[(modes["train_ratio"] == HALF) & modes["edges_given_away"].notna()]
    rows = []
    for place, group in modes.groupby(["dataset", "mode", "pad", "p", "k", "walks"], sort=False):
        ordered = group.sort_values("eps_encoder", key=lambda column: column.map(setting_order))
        few = ordered[ordered["beyond_degrees"] < FEW_EDGES]
        best = few.iloc[-1].to_dict() if len(few) else {"eps_encoder": ""}
        told = dict(zip(("dataset", "mode", "pad", "p", "k", "walks"), place, strict=True))
        told["mode"] = named_mode(told)
        shown = {name: best.get(name) for name in (*SHOWN, *SCORES, "below_deepwalk", "repeats")}
        rows.append(told | {"measured": " ".join(ordered["eps_encoder"]), "eps_encoder": best["eps_encoder"]} | shown)
    columns = ["dataset", "mode", "p", "k", "walks", "measured", "eps_encoder", *SHOWN, *SCORES]
    return pd.DataFrame(rows, columns=[*columns, "below_deepwalk", "repeats"])


def _first(lines: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Each point once: several published figures give it several lines, and costs stand beside each protocol."""
    return lines.drop_duplicates(keys)


def _matched(found: pd.DataFrame, lines: pd.DataFrame, keys: list[str]) -> pd.Series:
    values = lines.set_index(keys)["mean"]
    return values.reindex(pd.MultiIndex.from_frame(found[keys])).set_axis(found.index)
