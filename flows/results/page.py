"""The report as one HTML file, and its tables as CSV and LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from flows.context.declaration import StudyDeclaration
from flows.results.privacy import (
    account_section,
    attack_section,
    audit_section,
    guarantees,
    ledger_section,
    privacy_section,
    whole_ledger,
)
from flows.results.run_facts import provenance_section, run_section
from tasks.account.account import Account
from tasks.atomic_write import write_atomically
from tasks.evaluation.node_classification.solitude_tables import TABLES
from tasks.evaluation.node_embedding.embedding_tables import TABLES as EMBEDDING_TABLES
from tasks.evaluation.report_page.blocks import Block, Cell, Picture, Section, Table, Words, kept_tables
from tasks.evaluation.report_page.latex import latex_table
from tasks.evaluation.report_page.page import page, picture
from tasks.evaluation.report_page.published_tables import published_list, published_matrices
from tasks.evaluation.report_page.result_tables import cost_tables, result_tables
from tasks.evaluation.tables.controls import Controls
from tasks.evaluation.tables.significance import ABOVE, BELOW, SAME, UNTESTED, WORDS, judged
from tasks.evaluation.tables.summary import setting_names
from tasks.parameters.profiles import Profile

ACCURACY = "Accuracy against the edge budget, one curve per method and feature budget"
FRONTIER = (
    "Test accuracy over both budgets, a panel for each method. A red frame marks what no other pair of budgets, "
    "neither of them larger, reaches: the frontier of that method. Differences smaller than the standard deviations "
    "of the tables above say nothing."
)


@dataclass(frozen=True)
class Findings:
    """What the page is made from.

    Attributes:
        profile, parameters: the profile's name and content.
        studies: all of them, in the page's order.
        compared: the summary of all rows beside the published figures.
        results: folders of the results, one per (study, data set).
        figures: the figures drawn, and the frontier's, as PNG files that have PDF and SVG twins below ``vector``.
        accounts: of the private data sets that are declared.
    """

    profile: str
    parameters: Profile
    studies: Sequence[StudyDeclaration]
    compared: pd.DataFrame
    results: list[Path]
    figures: list[Path]
    frontier: list[Path]
    vector: Path
    accounts: Sequence[Account] = ()

    @property
    def controls(self) -> Controls:
        """Of all studies."""
        merged: dict[str, dict[str, str]] = {}
        for study in self.studies:
            for column, reasons in study.controls.items():
                merged.setdefault(column, {}).update(reasons)
        return merged

    @property
    def tables(self) -> dict[str, str]:
        """Titles of the studies' own tables, by file."""
        return {name: title for study in self.studies for name, title in study.tables.items()}

    @property
    def captions(self) -> dict[str, str]:
        """Of the figures, by file."""
        return {"accuracy": ACCURACY} | {name: text for study in self.studies for name, text in study.captions.items()}


def write_page(found: Findings, folder: Path, *, audit: Path, raw: Path, measured: Path) -> None:
    """Writes ``report.html`` and, below ``tables``, a CSV and a LaTeX file of every table of it.

    Raises:
        UserError: for a damaged input or a place that cannot be written; report.html is written last.
    """
    datasets: dict[str, list[str]] = {}
    for place in found.results:
        datasets.setdefault(place.parent.name, []).append(place.name)
    ledger = whole_ledger(found.results)
    sections = [
        run_section(found.profile, found.parameters, datasets),
        privacy_section(ledger),
        published_section(found.compared, found.controls),
        results_section(found, datasets, folder / "tables"),
        Section("figures", "Figures", tuple(_picture(path, found) for path in found.figures)),
        *frontier_section(found),
        *audit_section(audit),
        *attack_section(measured, found.vector),
        cost_section(found.compared, found.controls),
        ledger_section(found.results),
        *account_section(found.accounts),
        provenance_section(raw, measured),
    ]
    title = f"Graph learning under local differential privacy: report of profile {found.profile}"
    kept = kept_tables(sections)
    for table in kept:
        if f"{table.name}.csv" not in (*TABLES, *EMBEDDING_TABLES):
            frame = pd.DataFrame([[cell.plain for cell in row] for row in table.rows], columns=list(table.columns))
            write_atomically(folder / "tables" / f"{table.name}.csv", frame.to_csv(index=False, lineterminator="\n"))
        write_atomically(folder / "tables" / f"{table.name}.tex", latex_table(table))
    for path in sorted((folder / "tables").glob("*.csv")):
        if path.stem not in {table.name for table in kept}:
            write_atomically(path.with_suffix(".tex"), latex_table(_as_table(path, path.stem.replace("-", " "))))
    write_atomically(folder / "report.html", page(title, [*_summary(found), guarantees(ledger)], sections))


def _as_table(path: Path, title: str) -> Table:
    """A table that a study has written, beside those of the page."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows = tuple(tuple(Cell(text) for text in line) for line in frame.itertuples(index=False, name=None))
    return Table(path.stem, title, tuple(frame.columns), rows)


def published_section(compared: pd.DataFrame, controls: Controls) -> Section:
    """The matrices of the Solitude study, then every comparison, with the test in words."""
    table = published_list(compared, controls)
    if not table.rows:
        return Section(
            "published", "Beside the published figures", (Words("No published figure is for these points."),)
        )
    samples = tuple(
        Cell(text, mark=mark) for text, mark in (("+1.0", ABOVE), ("-1.0", BELOW), ("+1.0", SAME), ("+1.0", UNTESTED))
    )
    legend = Table(
        "legend", "Colours and arrows", ("above", "below", "not significant", "no test"), (samples,), kept=False
    )
    blocks: tuple[Block, ...] = (Words(WORDS), legend, *published_matrices(compared, controls), table)
    return Section("published", "Beside the published figures", blocks)


def results_section(found: Findings, names: Collection[str], tables: Path) -> Section:
    """Headline metrics of every point by study and data set, controls marked, and the Solitude study's own tables."""
    compared = found.compared
    measured = compared.drop_duplicates([name for name in compared.columns if name not in ("item", *_REFERENCE)])
    blocks: list[Block] = [
        Words(
            "Lines marked as controls are what a private method must be told apart from: without noise, without "
            "calibration, without features, from the size of a graph alone. The last column says which. All metrics, "
            "these and others, are in table.csv beside this page."
        )
    ]
    for study in (study for study in found.studies if study.name in names):
        tables_of = result_tables(measured, study.name, study.headlines, found.controls)
        blocks += [Words(study.title, "heading"), *tables_of]
    blocks += [
        table for name, title in found.tables.items() if (table := _as_table(tables / f"{name}.csv", title)).rows
    ]
    return Section("results", "Results and controls", tuple(blocks))


def frontier_section(found: Findings) -> list[Section]:
    """The heat maps; none where no method met two pairs of budgets."""
    pictures = [_picture(path, found) for path in found.frontier]
    return [Section("frontier", "Privacy-utility frontier", (Words(FRONTIER), *pictures))] if pictures else []


def cost_section(compared: pd.DataFrame, controls: Controls) -> Section:
    """What was recorded of the cost."""
    tables: list[Block] = [
        *cost_tables(compared.drop_duplicates([name for name in compared.columns if name not in _REFERENCE]), controls)
    ]
    note = Words(
        "Running times depend on the machine and are no part of the results; where a run was kept, its record is below."
    )
    return Section("cost", "Cost", (*(tables or [Words("No cost was recorded by these studies.")]), note))


_REFERENCE = ("reference_mean", "reference_sd", "difference_points")


def _summary(found: Findings) -> list[str]:
    lines = judged(found.compared)
    counts = Counter(lines["judgement"])
    points = found.compared[["study", "dataset", "method", *setting_names(found.compared)]].drop_duplicates()
    sentences = [
        f"{len(points)} points; studies: {points['study'].nunique()}; data sets: {points['dataset'].nunique()}."
    ]
    if len(lines):
        sentences.append(
            f"Of {len(lines)} comparisons with published figures {counts['above']} are significantly above, "
            f"{counts['below']} significantly below, {counts['same']} not significantly different, and "
            f"{counts['untested']} cannot be tested."
        )
    return sentences


def _picture(path: Path, found: Findings) -> Picture:
    named = "ego_maps" if path.stem.startswith("ego_maps_") else path.stem
    frontier = f"Privacy-utility frontier: {path.stem.removeprefix('frontier-').replace('-', ', ')}"
    files = [f"{found.vector.name}/{path.stem}.{form}" for form in ("pdf", "svg")]
    return picture(found.vector / f"{path.stem}.svg", found.captions.get(named, frontier), files)
