"""Table 1 of Jin & Chen (IJCAI 2022), from a summary beside the published figures (``reference.beside``)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tasks.epsilon import INFINITE, epsilon_sort_key
from tasks.evaluation.tables.rows import setting_order
from tasks.evaluation.tables.summary import write_csv

TABLE_ONE = "table-1.csv"
ROWS = ("spk", "gcn", "gin", "svm-gw", "svm-fgw", "node-count")
"""Methods in the paper's order, then the control."""
SETTINGS = ("input", "backbone", "encoder", "eps")
COLUMNS = (
    "dataset",
    "method",
    *SETTINGS,
    "accuracy",
    "sd",
    "splits",
    "published",
    "published_sd",
    "difference",
    "within_one_sd",
    "over_node_count",
    "macro_f1",
    "macro_f1_sd",
)


def write_graph_tables(compared: pd.DataFrame, folder: Path) -> None:
    """Writes ``table-1.csv``; without a line of the graph study its header alone."""
    write_csv(folder / TABLE_ONE, table_one(compared).round(4))


def table_one(compared: pd.DataFrame) -> pd.DataFrame:
    """Every line of the graph study with the published figure for it, in percent and points; columns ``COLUMNS``.

    First the methods on raw graphs, then those on embeddings without noise, then with noise by encoder and budget, and
    the control. ``within_one_sd`` says whether our mean is at most one published deviation away from the published
    mean; it is empty where nothing was published. The paper's noisy rows are for its default budget, 1/n, and stand
    beside every encoder there. ``over_node_count`` is what our mean has over the control on the same data set.
    """
    lines = compared[compared["study"] == "graph_classification"]
    keys = ["dataset", "method", *(name for name in SETTINGS if name in lines)]
    accuracy = lines[lines["metric"] == "accuracy"]
    f1 = lines[lines["metric"] == "macro_f1"].drop_duplicates(keys)[[*keys, "mean", "sd"]]
    joined = accuracy.merge(f1, on=keys, how="left", suffixes=("", "_f1"))
    joined = joined.reindex(columns=list(dict.fromkeys([*joined.columns, *SETTINGS])), fill_value="")
    published = joined["item"] != ""
    within = joined["difference_points"].abs() <= 100 * joined["reference_sd"]
    table = joined[["dataset", "method", *SETTINGS]].assign(
        accuracy=100 * joined["mean"],
        sd=100 * joined["sd"],
        splits=joined["repeats"],
        published=100 * joined["reference_mean"],
        published_sd=100 * joined["reference_sd"],
        difference=joined["difference_points"],
        within_one_sd=within.map({True: "yes", False: "no"}).where(published, ""),
        macro_f1=100 * joined["mean_f1"],
        macro_f1_sd=100 * joined["sd_f1"],
    )
    control = table[table["method"] == "node-count"].drop_duplicates("dataset").set_index("dataset")["accuracy"]
    table["over_node_count"] = table["accuracy"] - table["dataset"].map(control).astype(float)
    order = pd.DataFrame(
        {
            "set": table["dataset"].map(setting_order),
            "control": table["method"] == "node-count",
            "step": table["eps"].map(lambda eps: 0 if eps == "" else 1 if eps == INFINITE else 2),
            "encoder": table["encoder"].where(table["eps"] != INFINITE, ""),
            "method": table["method"].map({name: place for place, name in enumerate(ROWS)}),
            "backbone": table["backbone"],
            "eps": [epsilon_sort_key(eps or INFINITE) for eps in table["eps"]],
        }
    )
    return table.loc[order.sort_values(list(order.columns), kind="stable").index, list(COLUMNS)].reset_index(drop=True)
