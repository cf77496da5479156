"""The attacks side by side: one line per budget of a neighbour list, and the other attacks below."""

from __future__ import annotations

import math

import pandas as pd

from tasks.evaluation.tables.rows import setting_order

# Title of a column, and the rows that it shows.
COLUMNS: dict[str, dict[str, str]] = {
    "edge: one list": {"attack": "edges", "reading": "one list", "metric": "auc"},
    "both": {"attack": "edges", "reading": "both lists", "metric": "auc"},
    "mutual": {"attack": "edges", "reading": "mutual", "metric": "auc"},
    "bayes": {"attack": "edges", "reading": "bayes", "metric": "auc"},
    "prec. at |E|": {"attack": "edges", "reading": "both lists", "metric": "precision"},
    "prec.: labels": {"attack": "edges with labels", "reading": "bits, classes and degrees", "metric": "precision"},
    "prec.: no bits": {"attack": "edges with labels", "reading": "classes and degrees", "metric": "precision"},
    "prec.: all repeats": {
        "attack": "edges of all repeats",
        "reading": "bits, classes and degrees",
        "metric": "precision",
    },
    "links: base": {"attack": "links", "reading": "correlation", "method": "base", "metric": "auc"},
    "links: mutual": {"attack": "links", "reading": "correlation", "method": "mutual", "metric": "auc"},
    "links: bayes-soft": {"attack": "links", "reading": "correlation", "method": "bayes-soft", "metric": "auc"},
    "prec.: mutual": {"attack": "links", "reading": "correlation", "method": "mutual", "metric": "precision"},
    "attr.: mutual": {"attack": "attributes", "reading": "mutual", "metric": "auc"},
    "acc.: base": {"method": "base", "metric": "accuracy"},
    "acc.: mutual": {"method": "mutual", "metric": "accuracy"},
    "acc.: bayes-soft": {"method": "bayes-soft", "metric": "accuracy"},
}


def attack_table(frame: pd.DataFrame) -> str:
    """A summary of the attacks' rows as aligned text: mean and standard deviation over the repeats."""
    blocks = []
    budgets = sorted(set(frame.get("eps_a", [])) - {""}, key=setting_order)
    if budgets:
        lines = [
            [budget, *(_cell(frame, {**chosen, "eps_a": budget}) for chosen in COLUMNS.values())] for budget in budgets
        ]
        blocks.append(pd.DataFrame(lines, columns=["eps_a", *COLUMNS]).to_string(index=False))
    rest = frame[frame["eps_a"] == ""] if budgets else frame
    if "upload" in rest:
        return upload_table(rest)
    for line in rest.to_dict("records"):
        given = [f"{name}={line[name]}" for name in ("eps_x", "eps", "eps_encoder") if line.get(name)]
        words = [line["dataset"], line["method"], f"{line['attack']}: {line['reading']}", *given, line["metric"]]
        blocks.append(f"{' '.join(words)} {_text(line['mean'], line['sd'])}")
    return "\n".join(blocks)


def upload_table(frame: pd.DataFrame) -> str:
    """Uploads as aligned text, one line for each way to read one: AUC, precision, and its excess over degrees alone."""
    keys = ["eps_encoder", "upload", "reading"]
    found = frame.pivot_table(index=keys, columns="metric", values="mean", sort=False).reset_index()
    alone = found.loc[found["upload"] == "degrees", "precision"].mean()
    found["beyond degrees"] = found["precision"] - alone
    found = found.sort_values("eps_encoder", key=lambda column: column.map(setting_order), kind="stable")
    return str(found.to_string(index=False, float_format=lambda value: f"{value:.3f}"))


def _cell(frame: pd.DataFrame, chosen: dict[str, str]) -> str:
    for name, value in chosen.items():
        frame = frame[frame[name] == value]
    return _text(frame["mean"].iloc[0], frame["sd"].iloc[0]) if len(frame) else ""


def _text(mean: float, sd: float) -> str:
    return f"{mean:.3f}" if math.isnan(sd) else f"{mean:.3f}±{sd:.3f}"
