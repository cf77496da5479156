"""The report stage: every result of a profile in one table, beside the published figures, with its ledger."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from flows.context.declaration import StudyDeclaration, printed_settings
from flows.context.exports import DIGITS
from flows.context.project import data_folder, workspace
from flows.results.page import Findings, write_page
from tasks.account.account import Account
from tasks.atomic_write import write_atomically
from tasks.evaluation.node_classification.accuracy_figure import draw_accuracy
from tasks.evaluation.node_classification.frontier_figure import draw_frontier
from tasks.evaluation.tables.reference import beside
from tasks.evaluation.tables.rows import Row, read_rows
from tasks.evaluation.tables.summary import cell, console_table, summary, write_csv
from tasks.parameters.profiles import Profile


def report(
    name: str,
    profile: Profile,
    studies: Sequence[StudyDeclaration],
    files: Sequence[Path],
    accounts: Sequence[Account] = (),
) -> str:
    """Write report.html, table.csv, summary.txt, tables and figures below data/results/<name>/report.

    Args:
        name, profile: of params.yaml.
        studies: all of them, in the report's order.
        files: the rows of those that there are results of.
        accounts: of the private data sets that are declared.

    Returns the summary.

    Raises:
        UserError: when an input is damaged.
    """
    results, folder = data_folder("results", name), data_folder("results", name, "report")
    rows: list[Row] = [row for file in files for row in read_rows(file)]
    ledgers = [file.with_name("ledger.md").read_text() for file in files]
    table = summary(rows)
    outputs = {study.name: study.outputs() for study in studies if study.outputs}
    of_study = {
        str(study): beside(part, outputs[str(study)].published()) for study, part in table.groupby("study", sort=False)
    }
    compared = pd.concat(list(of_study.values()))
    write_csv(folder / "table.csv", compared.round(DIGITS))
    vector = folder / "figures"
    figures = [folder / "accuracy.png"]
    draw_accuracy(table, figures[0], vector)
    for output in outputs.values():  # the page asks for the tables of all, of some of them empty
        output.write_tables(compared, folder / "tables")
    places = {study.name: folder / study.figures for study in studies}
    for study, lines in of_study.items():
        figures += outputs[study].draw(lines, places[study], vector, files)
    frontier = draw_frontier(table, folder / "frontier", vector)
    # DVC fails a stage without one of its outputs, and some grids suffice for no figure of theirs.
    for place in [folder / "frontier", *(places[study] for study in places if (results / study).is_dir())]:
        place.mkdir(parents=True, exist_ok=True)
    write_page(
        Findings(
            name, profile, studies, compared, [file.parent for file in files], figures, frontier, vector, accounts
        ),
        folder,
        audit=results / "audit.json",
        raw=data_folder("raw", name),
        measured=workspace() / "data" / "measured",
    )
    text = "\n".join(
        [
            *(console_table(summary(part), study.headlines) + "\n" for study, part in by_study(rows, studies)),
            comparison(compared, studies),
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


def by_study(rows: list[Row], studies: Sequence[StudyDeclaration]) -> Iterator[tuple[StudyDeclaration, list[Row]]]:
    """The rows of each study: their settings differ, so they are printed in tables of their own."""
    for study in studies:
        if part := [row for row in rows if row.study == study.name]:
            yield study, part


def comparison(compared: pd.DataFrame, studies: Sequence[StudyDeclaration]) -> str:
    """Lines that have a published figure: ours, theirs, and the difference in points."""
    printed = compared[compared["item"] != ""]
    if printed.empty:
        return "No published figure is for these points."
    columns = {study.name: study.point for study in studies}
    lines = [
        f"{line['dataset']} {line['method']} {' '.join(printed_settings(columns[line['study']], line))}: "
        f"{line['metric']} {cell(line['mean'], line['sd'], line['repeats'])}, "
        f"published {_published(line['reference_mean'], line['reference_sd'])} ({line['item']}), "
        f"difference {line['difference_points']:+.1f} points"
        for line in printed.to_dict("records")
    ]
    return "\n".join(["Beside the published figures", *lines])


def _published(mean: float, sd: float) -> str:
    return f"{mean:.3f}" if math.isnan(sd) else f"{mean:.3f} ± {sd:.3f}"
