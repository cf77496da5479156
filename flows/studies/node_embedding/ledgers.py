"""The ledgers of the FedWalk study: one for each mode, for a user takes part in one, under what was read from it."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

from flows.studies.node_embedding.grid import Cell
from flows.studies.node_embedding.walks import AllWalks
from tasks.epsilon import INFINITE
from tasks.evaluation.node_embedding.embedding_lines import named_mode
from tasks.evaluation.tables.rows import Row, setting_order
from tasks.reports.ledgers.ledger import Ledger
from tasks.reports.ledgers.ledger_line import LedgerLine
from tasks.reports.ledgers.units import LISTS_IN_CLEAR
from tasks.steps.download import RawSource
from tasks.steps.report_point import ledger_lines


def ledgers(sources: dict[str, RawSource], walks: AllWalks, rows: list[Row]) -> dict[str, Ledger]:
    """By title; the title says which share of the edges an observer recovered from the uploads."""
    modes: defaultdict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell, _ in walks:
        modes[cell.dataset, named_mode(cell.settings)].append(cell)
    found = {}
    for (dataset, mode), cells in modes.items():
        made = [made for (cell, _), made in walks.items() if cell in cells]
        lines = {line for walks in made for report in walks.reports for line in ledger_lines(report)}
        if mode == "deepwalk":
            found[f"Mode deepwalk on {dataset}: it reads the graph itself"] = Ledger((deepwalk_line(dataset),))
        elif lines:
            measured = [row for row in rows if row.dataset == dataset and named_mode(row.settings) == mode]
            found[f"Mode {mode} on {dataset}: {given_away(measured, sources[dataset].private)}"] = Ledger(tuple(lines))
    return found


def deepwalk_line(dataset: str) -> LedgerLine:
    """The baseline reads the graph itself."""
    return LedgerLine(
        mechanism="DeepWalk (baseline without privacy)",
        dataset=dataset,
        deployment_key="the graph, in clear",
        report_key=f"deepwalk {dataset}",
        epsilon=INFINITE,
        unit="neighbour list",
        statement="no guarantee: whoever walks holds every neighbour list",
        not_protected="every neighbour list, in clear",
        guarantee=False,
        simulated=False,
        spends=tuple(LISTS_IN_CLEAR.items()),
    )


def given_away(rows: list[Row], private: bool) -> str:
    """The largest share of the edges recovered at each budget, by the evaluation, which knows the graph."""
    if private:
        return (
            "what the uploads give away is not measured on a private graph; on public graphs walks at eps_encoder 2 "
            "give nearly every edge away"
        )
    shares: defaultdict[str, defaultdict[tuple[str, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    blind = [row.value for row in rows if row.metric == "edge_base_rate"]
    for row in rows:
        if row.metric == "edge_recall":
            shares[row.settings["eps_encoder"]][tuple(row.settings.values())].append(row.value)
    if not shares:
        return "what the uploads give away was not measured"
    worst = {budget: max(map(fmean, repeats.values())) for budget, repeats in shares.items()}
    parts = [f"{worst[budget]:.1%} at eps_encoder {budget}" for budget in sorted(worst, key=setting_order)]
    return f"of the edges, the uploads give away {', '.join(parts)} (a blind guess hits with {fmean(blind):.2%})"
