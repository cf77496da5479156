"""Laying points and tables below data/, where DVC versions them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from flows.context.project import data_folder
from flows.context.study import Outcome, Study
from tasks.atomic_write import write_atomically
from tasks.evaluation.tables.rows import write_rows
from tasks.evaluation.tables.summary import setting_names, summary, write_csv
from tasks.reports.ledgers.ledger import Ledger
from tasks.reports.ledgers.ledger_table import ledgers_json, ledgers_markdown
from tasks.store import PointRef

DIGITS = 4


def export_results(
    study: Study, outcome: Outcome, dataset: str, points: list[PointRef], parts: Sequence[str] = ()
) -> None:
    """The study's points on one data set, its rows, table, metrics and ledger.

    ``parts`` are the names that the rows have, where a study cuts several sets out of the data set.
    """
    names = list(parts) or [dataset]

    def chosen(ledger: Ledger) -> Ledger:
        return Ledger(tuple(line for name in names for line in ledger.of_dataset(name).lines))

    folder = data_folder("results", study.request.profile, study.name, dataset)
    study.store.export(points, folder / "points")
    rows = [row for row in outcome.rows if row.dataset in names]
    ledgers = {title: chosen(ledger) for title, ledger in outcome.ledgers.items()}
    ledgers = {title: ledger for title, ledger in ledgers.items() if ledger.lines}
    table = summary(rows)
    write_rows(folder / "rows.json", rows)
    write_csv(folder / "table.csv", table.round(DIGITS))
    write_atomically(folder / "ledger.json", ledgers_json(ledgers))
    write_atomically(folder / "ledger.md", ledgers_markdown(ledgers))
    metrics: dict[str, dict[str, float]] = {}
    for _, line in table.iterrows():
        settings = " ".join(f"{name}={line[name]}" for name in setting_names(table) if line[name])
        place = f"{line['dataset']} {line['method']}" if parts else line["method"]
        metrics.setdefault(f"{place} {settings}", {})[line["metric"]] = round(float(line["mean"]), DIGITS)
    write_atomically(folder / "metrics.json", json.dumps(metrics, indent=1, sort_keys=True) + "\n")
