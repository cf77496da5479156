"""The report stage: every result of a profile in one table, beside the published figures, with its ledger."""

from __future__ import annotations

import argparse
import math
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

from flows.startup import settle

if __name__ == "__main__":
    settle()

import pandas as pd

from flows.exit_status import exit_status
from flows.exports import DIGITS, data_folder
from flows.report_page import Findings, write_page
from flows.study import StudyRequest, read_request, workspace
from tasks.epsilon import INFINITE
from tasks.errors import UserError
from tasks.evaluation.accuracy_figure import draw_accuracy
from tasks.evaluation.ego_figures import MAP_COLUMNS, MAPS, draw_clustering, read_maps
from tasks.evaluation.embedding_changes import published_changes
from tasks.evaluation.embedding_figures import draw_embedding
from tasks.evaluation.embedding_tables import write_embedding_tables
from tasks.evaluation.frontier_figure import draw_frontier
from tasks.evaluation.graph_figures import draw_graphs
from tasks.evaluation.graph_tables import write_graph_tables
from tasks.evaluation.reference import beside, read_reference
from tasks.evaluation.rows import Row, read_rows, write_atomically
from tasks.evaluation.solitude_figures import draw_solitude
from tasks.evaluation.solitude_tables import write_solitude_tables
from tasks.evaluation.tables import cell, console_table, summary, write_csv

ORDER = ("node_classification", "graph_classification", "ego_clustering", "node_embedding")


def report(profile: str) -> str:
    """Write report.html, table.csv, summary.txt, tables and figures below data/results/<profile>/report.

    Returns the summary.

    Raises:
        UserError: when the profile has no results yet, or an input is damaged.
    """
    request = StudyRequest(profile=profile)
    results, folder = data_folder("results", request), data_folder("results", request, "report")
    files = [file for study in ORDER for file in sorted(results.glob(f"{study}/*/rows.json"))]
    if not files:
        raise UserError(f"no results below {results}; run `dvc repro` first")
    rows: list[Row] = [row for file in files for row in read_rows(file)]
    ledgers = [file.with_name("ledger.md").read_text() for file in files]
    parameters = getattr(read_request(request), profile)
    table = summary(rows)
    compared = pd.concat([beside(part, published(str(study))) for study, part in table.groupby("study", sort=False)])
    write_csv(folder / "table.csv", compared.round(DIGITS))
    write_solitude_tables(compared, folder / "tables")
    write_graph_tables(compared, folder / "tables")
    changes = published_changes(fedwalk_figures())
    write_embedding_tables(compared, folder / "tables", changes)
    vector = folder / "figures"
    draw_accuracy(table, folder / "accuracy.png", vector)
    figures = [
        folder / "accuracy.png",
        *draw_solitude(compared, folder / "solitude", vector),
        *draw_embedding(table, folder / "embedding", vector, changes),
        *draw_graphs(compared, folder / "graphs", vector),
        *draw_egos(table, files, folder / "egos", vector),
    ]
    frontier = draw_frontier(table, folder / "frontier", vector)
    write_page(
        Findings(profile, parameters, compared, [file.parent for file in files], figures, frontier, vector),
        folder,
        audit=results / "audit.json",
        raw=data_folder("raw", request),
        measured=workspace() / "data" / "measured",
    )
    text = "\n".join(
        [
            *(console_table(summary(part)) + "\n" for part in by_study(rows)),
            comparison(compared),
            "",
            *ledgers,
            "Where to look next",
            "  compare the runs:  make ui       (Prefect and MLflow on this machine; make down stops them)",
            f"  read the report:   {folder.relative_to(workspace())}/report.html",
            "  another grid:      edit params.yaml and `make run` again; only new points are computed",
            "",
        ]
    )
    write_atomically(folder / "summary.txt", text)
    return text


def by_study(rows: list[Row]) -> Iterator[list[Row]]:
    """The rows of each study: their settings differ, so they are printed in tables of their own."""
    for study in sorted({row.study for row in rows}, key=ORDER.index):
        yield [row for row in rows if row.study == study]


def draw_egos(table: pd.DataFrame, files: Sequence[Path], folder: Path, vector: Path | None = None) -> list[Path]:
    """The figures of clustered ego graphs; maps of those that have some beside their rows, which are in ``files``."""
    own = table[table["study"] == "ego_clustering"]
    if own.empty:
        return []
    maps = [read_maps(place) for file in files if (place := file.with_name(MAPS)).is_file()]
    whole = pd.concat(maps or [pd.DataFrame(columns=list(MAP_COLUMNS))])
    return draw_clustering(own, whole, gromov_figures(), folder, vector)


def published(study: str) -> pd.DataFrame:
    """The Solitude paper's table 3, its figures 4 and 5 where the table prints nothing; DeepWalk's own table.

    FedWalk's figures were published as differences and stand beside nothing. Of the paper on graph kernels table 1,
    whose noisy rows are for its default budget 1/n and stand beside every encoder there. Its figures of ego graphs
    have a spread over pairs, not over repeats: they are drawn beside ours, not compared.
    """
    if study == "ego_clustering":
        return gromov_figures().iloc[:0]
    if study == "graph_classification":
        figures = gromov_figures()
        noisy = figures["input"].str.endswith("-ldp").map({True: "1/n", False: ""})
        exact = figures["input"].str.endswith("-H").map({True: INFINITE, False: ""})
        figures.insert(list(figures.columns).index("metric"), "eps", noisy + exact)  # settings stand before the metric
        return figures[figures["item"] == "table-1"]
    if study == "node_embedding":
        figures = fedwalk_figures().rename(columns={"condition": "scoring"})
        return figures[figures["method"] == "deepwalk"]
    figures = read_reference(workspace() / "data" / "reference" / "solitude.csv")
    rates = read_reference(workspace() / "data" / "reference" / "solitude_label_rate.csv")
    figures.insert(list(figures.columns).index("metric"), "label_rate", "0.5")
    # The file writes 0.50 for what is 0.5 above: one point, which only the same spelling makes a duplicate below.
    rates["label_rate"] = rates["label_rate"].map(lambda rate: f"{float(rate):g}")
    figures = pd.concat([figures, rates[figures.columns]])
    figures.insert(list(figures.columns).index("metric"), "mode", "directed")
    order = {"table-3": 0, "figure-4": 1, "figure-5": 2}
    return figures.sort_values("item", key=lambda items: items.map(order), kind="stable").drop_duplicates(
        ["dataset", "method", "backbone", "eps_x", "eps_a", "label_rate", "metric"]
    )


def gromov_figures() -> pd.DataFrame:
    """What the paper on graph kernels printed."""
    return read_reference(workspace() / "data" / "reference" / "gromov.csv")


def fedwalk_figures() -> pd.DataFrame:
    """What the FedWalk paper printed, and DeepWalk's own table."""
    return read_reference(workspace() / "data" / "reference" / "fedwalk.csv")


def comparison(compared: pd.DataFrame) -> str:
    """Lines that have a published figure: ours, theirs, and the difference in points."""
    printed = compared[compared["item"] != ""]
    if printed.empty:
        return "No published figure is for these points."
    lines = [
        f"{line['dataset']} {line['method']} {_settings(line)}: {line['metric']} "
        f"{cell(line['mean'], line['sd'], line['repeats'])}, "
        f"published {_published(line['reference_mean'], line['reference_sd'])} ({line['item']}), "
        f"difference {line['difference_points']:+.1f} points"
        for line in printed.to_dict("records")
    ]
    return "\n".join(["Beside the published figures", *lines])


def _settings(line: dict[Hashable, Any]) -> str:
    """What tells published points apart."""
    if line["study"] == "node_classification":
        return f"{line['backbone']} eps_x={line['eps_x']} eps_a={line['eps_a']}"
    if line["study"] == "graph_classification":
        return " ".join([line["input"], *(f"{name}={line[name]}" for name in ("encoder", "eps") if line[name])])
    return f"walks={line['walks']} train_ratio={line['train_ratio']} {line['scoring']}"


def _published(mean: float, sd: float) -> str:
    return f"{mean:.3f}" if math.isnan(sd) else f"{mean:.3f} ± {sd:.3f}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m flows.report", description=__doc__)
    parser.add_argument("--profile", default="demo", help="section of params.yaml: demo (default) or paper")
    profile = parser.parse_args().profile

    def work() -> None:
        report(profile)

    return exit_status(work)


if __name__ == "__main__":
    raise SystemExit(main())
