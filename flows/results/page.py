"""The report as one HTML file, and its tables as CSV and LaTeX."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from flows.results.privacy import (
    attack_section,
    audit_section,
    guarantees,
    ledger_section,
    privacy_section,
    whole_ledger,
)
from flows.results.run_facts import provenance_section, run_section
from tasks.evaluation.node_classification.solitude_tables import TABLES
from tasks.evaluation.node_embedding.embedding_tables import TABLES as EMBEDDING_TABLES
from tasks.evaluation.report_page.blocks import Block, Cell, Picture, Section, Table, Words, kept_tables
from tasks.evaluation.report_page.latex import latex_table
from tasks.evaluation.report_page.page import page, picture
from tasks.evaluation.report_page.published_tables import published_list, published_matrices
from tasks.evaluation.report_page.result_tables import cost_tables, result_tables
from tasks.evaluation.tables.rows import write_atomically
from tasks.evaluation.tables.significance import ABOVE, BELOW, SAME, UNTESTED, WORDS, judged
from tasks.evaluation.tables.summary import setting_names
from tasks.parameters.profiles import Profile

CAPTIONS = {
    "accuracy": "Accuracy against the edge budget, one curve per method and feature budget",
    "figure-4": "Solitude's figure 4: accuracy against the edge budget; dashed lines were published",
    "figure-5": "Solitude's figure 5: accuracy against the label rate; dashed lines were published",
    "micro_f1_by_bins": "FedWalk's figure 6: micro-F1 against the number of bins",
    "micro_f1_by_epsilon": "FedWalk's figure 7: micro-F1 against the encoder's budget, and the edges given away",
    "micro_f1_by_prediction": "FedWalk's figure 8: micro-F1 against two-hop prediction, and the messages it saves",
    "accuracy_by_epsilon": "Graph classification: accuracy against the budget; crosses were published",
    "knn_5_by_epsilon": "GW-LDP's figure 3: accuracy of 5 nearest neighbours",
    "knn_20_by_epsilon": "GW-LDP's figure 3: accuracy of 20 nearest neighbours",
    "gw_by_epsilon": "Graph classification: mean Gromov-Wasserstein discrepancy of two graphs",
    "ego_ari_by_epsilon": "Ego graphs: adjusted Rand index of the clusters; dashes are node counts alone",
    "ego_nmi_by_epsilon": "Ego graphs: normalised mutual information of the clusters; dashes are node counts alone",
    "ego_accuracy_by_epsilon": "Ego graphs: accuracy under the best matching; dashes are node counts alone",
    "ego_gw_by_epsilon": "GW-LDP's figure 5: mean Gromov-Wasserstein discrepancy of two ego graphs",
    "ego_five_graphs": "GW-LDP's figure 4: discrepancies of five ego graphs, the published ones first",
}
EGO_MAPS = "GW-LDP's figure 2: t-SNE of the discrepancies of ego graphs, by cluster above, by the centre's class below"
OWN_TABLES = {
    "table-1": "GW-LDP's table 1 and its controls: mean and deviation over splits in percent, difference in points",
    "verdicts": "Every published cell, and every method of ours beside it; differences and margins in points",
    "equal-relation-budget": "Accuracy by the budget of a relation: reported once, or by both of its ends",
    "edges-told-apart": "How well the calibrated graph tells true from false reported edges, beside accuracy",
    "deepwalk-published": "DeepWalk on the true graph beside its published table, percent, protocol top_k",
    "largest-epsilon": "The largest budget at which a mode gives under a tenth of the edges away, and F1 there",
    "published-changes": "Changes of micro-F1 that FedWalk's figures print, and ours between the same points",
}
"""Beside them, every way to walk and its costs are in ``embedding-modes.csv``, too long for the page."""
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
        compared: the summary of all rows beside the published figures.
        results: folders of the results, one per (study, data set).
        figures: the figures drawn, and the frontier's, as PNG files that have PDF and SVG twins below ``vector``.
    """

    profile: str
    parameters: Profile
    compared: pd.DataFrame
    results: list[Path]
    figures: list[Path]
    frontier: list[Path]
    vector: Path


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
        published_section(found.compared),
        results_section(found.compared, list(datasets), folder / "tables"),
        Section("figures", "Figures", tuple(_picture(path, found.vector) for path in found.figures)),
        *frontier_section(found.frontier, found.vector),
        *audit_section(audit),
        *attack_section(measured, found.vector),
        cost_section(found.compared),
        ledger_section(found.results),
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
            write_atomically(path.with_suffix(".tex"), latex_table(_as_table(path)))
    write_atomically(folder / "report.html", page(title, [*_summary(found), guarantees(ledger)], sections))


def _as_table(path: Path) -> Table:
    """A table that a study has written, beside those of the page."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows = tuple(tuple(Cell(text) for text in line) for line in frame.itertuples(index=False))
    return Table(path.stem, path.stem.replace("-", " "), tuple(frame.columns), rows)


def published_section(compared: pd.DataFrame) -> Section:
    """The matrices of the Solitude study, then every comparison, with the test in words."""
    table = published_list(compared)
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
    blocks: tuple[Block, ...] = (Words(WORDS), legend, *published_matrices(compared), table)
    return Section("published", "Beside the published figures", blocks)


def results_section(compared: pd.DataFrame, studies: list[str], tables: Path) -> Section:
    """Headline metrics of every point by study and data set, controls marked, and the Solitude study's own tables."""
    measured = compared.drop_duplicates([name for name in compared.columns if name not in ("item", *_REFERENCE)])
    blocks: list[Block] = [
        Words(
            "Lines marked as controls are what a private method must be told apart from: without noise, without "
            "calibration, without features, from the size of a graph alone. The last column says which. All metrics, "
            "these and others, are in table.csv beside this page."
        )
    ]
    for study in studies:
        blocks += [Words(study.replace("_", " "), "heading"), *result_tables(measured, study)]
    blocks += [table for name in OWN_TABLES if (table := _kept(name, tables)).rows]
    return Section("results", "Results and controls", tuple(blocks))


def frontier_section(drawn: list[Path], vector: Path) -> list[Section]:
    """The heat maps; none where no method met two pairs of budgets."""
    pictures = [_picture(path, vector) for path in drawn]
    return [Section("frontier", "Privacy-utility frontier", (Words(FRONTIER), *pictures))] if pictures else []


def cost_section(compared: pd.DataFrame) -> Section:
    """What was recorded of the cost."""
    tables: list[Block] = [
        *cost_tables(compared.drop_duplicates([name for name in compared.columns if name not in _REFERENCE]))
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


def _picture(path: Path, vector: Path) -> Picture:
    dataset_backbone = path.stem.removeprefix("frontier-").replace("-", ", ")
    maps = path.stem.startswith("ego_maps_")
    caption = EGO_MAPS if maps else CAPTIONS.get(path.stem, f"Privacy-utility frontier: {dataset_backbone}")
    files = [f"{vector.name}/{path.stem}.{form}" for form in ("pdf", "svg")]
    return picture(vector / f"{path.stem}.svg", caption, files)


def _kept(name: str, folder: Path) -> Table:
    frame = pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False)
    rows = tuple(tuple(Cell(text) for text in row) for row in frame.itertuples(index=False, name=None))
    return Table(name, OWN_TABLES[name], tuple(frame.columns), rows)
