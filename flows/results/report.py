"""The report stage: every result of a profile in one table, beside the published figures, with its ledger."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any

import pandas as pd

from flows.context.exports import DIGITS
from flows.context.project import data_folder, workspace
from flows.context.request import StudyRequest, read_request
from flows.results.files import FIGURES, result_files
from flows.results.page import Findings, write_page
from flows.results.published import published
from flows.results.tables_and_figures import draw_figures, write_tables
from tasks.evaluation.node_classification.accuracy_figure import draw_accuracy
from tasks.evaluation.node_classification.frontier_figure import draw_frontier
from tasks.evaluation.tables.reference import beside
from tasks.evaluation.tables.rows import Row, read_rows, write_atomically
from tasks.evaluation.tables.summary import cell, console_table, summary, write_csv


def report(profile: str) -> str:
    """Write report.html, table.csv, summary.txt, tables and figures below data/results/<profile>/report.

    Returns the summary.

    Raises:
        UserError: when the profile has no results yet, or an input is damaged.
    """
    request = StudyRequest(profile=profile)
    results, folder = data_folder("results", profile), data_folder("results", profile, "report")
    files = result_files(profile)
    rows: list[Row] = [row for file in files for row in read_rows(file)]
    ledgers = [file.with_name("ledger.md").read_text() for file in files]
    parameters = getattr(read_request(request), profile)
    table = summary(rows)
    of_study = {str(study): beside(part, published(str(study))) for study, part in table.groupby("study", sort=False)}
    compared = pd.concat(list(of_study.values()))
    write_csv(folder / "table.csv", compared.round(DIGITS))
    vector = folder / "figures"
    figures = [folder / "accuracy.png"]
    draw_accuracy(table, figures[0], vector)
    for study in FIGURES:  # the page asks for the tables of all, of some of them empty
        write_tables(study, compared, folder / "tables")
    for study, lines in of_study.items():
        figures += draw_figures(study, lines, folder / FIGURES[study], vector, files)
    frontier = draw_frontier(table, folder / "frontier", vector)
    # DVC fails a stage without one of its outputs, and some grids suffice for no figure of theirs.
    for place in ["frontier", *(FIGURES[study] for study in FIGURES if (results / study).is_dir())]:
        (folder / place).mkdir(parents=True, exist_ok=True)
    write_page(
        Findings(profile, parameters, compared, [file.parent for file in files], figures, frontier, vector),
        folder,
        audit=results / "audit.json",
        raw=data_folder("raw", profile),
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
    for study in sorted({row.study for row in rows}, key=list(FIGURES).index):
        yield [row for row in rows if row.study == study]


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
