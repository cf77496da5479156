"""The report stage: every result of a profile in one table, beside the published figures, with its ledger."""

from __future__ import annotations

import argparse
import math
import sys

from flows.startup import settle

if __name__ == "__main__":
    settle()

import pandas as pd

from flows.exports import DIGITS, data_folder
from flows.study import StudyRequest, workspace
from tasks.errors import UserError
from tasks.evaluation.accuracy_figure import draw_accuracy
from tasks.evaluation.reference import beside, read_reference
from tasks.evaluation.rows import Row, read_rows, write_atomically
from tasks.evaluation.tables import cell, console_table, summary, write_csv


def report(profile: str) -> str:
    """Write table.csv, summary.txt and accuracy.png below data/results/<profile>/report; returns the summary.

    Raises:
        UserError: when the profile has no results yet.
    """
    request = StudyRequest(profile=profile)
    results, folder = data_folder("results", request), data_folder("results", request, "report")
    files = sorted(results.glob("*/*/rows.json"))
    if not files:
        raise UserError(f"no results below {results}; run `dvc repro` first")
    rows: list[Row] = [row for file in files for row in read_rows(file)]
    ledgers = [file.with_name("ledger.md").read_text() for file in files]
    table = summary(rows)
    compared = beside(table, published_accuracies())
    write_csv(folder / "table.csv", compared.round(DIGITS))
    draw_accuracy(table, folder / "accuracy.png")
    text = "\n".join(
        [
            console_table(table),
            "",
            comparison(compared),
            "",
            *ledgers,
            "Where to look next",
            "  compare the runs:  make ui       (Prefect and MLflow on this machine; make down stops them)",
            f"  table and figure:  {folder.relative_to(workspace())}",
            "  another grid:      edit params.yaml and `make run` again; only new points are computed",
            "",
        ]
    )
    write_atomically(folder / "summary.txt", text)
    return text


def published_accuracies() -> pd.DataFrame:
    """The Solitude paper's table 3, and its figure 4 for the points that the table does not print."""
    published = read_reference(workspace() / "data" / "reference" / "solitude.csv")
    return published.sort_values("item", ascending=False).drop_duplicates(
        ["dataset", "method", "backbone", "eps_x", "eps_a", "metric"]
    )


def comparison(compared: pd.DataFrame) -> str:
    """Lines that have a published figure: ours, theirs, and the difference in points."""
    printed = compared[compared["item"] != ""]
    if printed.empty:
        return "No published figure is for these points."
    lines = [
        f"{line['dataset']} {line['method']} {line['backbone']} eps_x={line['eps_x']} eps_a={line['eps_a']}: "
        f"{cell(line['mean'], line['sd'], line['repeats'])}, "
        f"published {_published(line['reference_mean'], line['reference_sd'])} ({line['item']}), "
        f"difference {line['difference_points']:+.1f} points"
        for line in printed.to_dict("records")
    ]
    return "\n".join(["Beside the published figures", *lines])


def _published(mean: float, sd: float) -> str:
    return f"{mean:.3f}" if math.isnan(sd) else f"{mean:.3f} ± {sd:.3f}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m flows.report", description=__doc__)
    parser.add_argument("--profile", default="demo", help="section of params.yaml: demo (default) or paper")
    try:
        report(parser.parse_args().profile)
    except UserError as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
