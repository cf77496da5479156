"""Node classification under local differential privacy: the Solitude study.

python -m flows.node_classification [--profile P] [--dataset D ...] [--set key=json ...] [--json FILE] [--plain]
"""

from __future__ import annotations

if __name__ == "__main__":
    from flows.command import main

    raise SystemExit(main("node_classification"))

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from flows.dealing import deal
from flows.exports import export_results
from flows.study import Outcome, Study
from flows.submission import Call
from flows.tracking import Tracker
from tasks.curator.methods import method_named
from tasks.epsilon import INFINITE
from tasks.evaluation.rows import Row
from tasks.params import NodeClassification
from tasks.reports.composition import require_within
from tasks.reports.ledger import Ledger
from tasks.steps.client_point import ledger_lines
from tasks.steps.download import RawSource
from tasks.steps.perturb import perturb_edges, perturb_features, report_labels
from tasks.steps.score import read_metrics, score
from tasks.steps.search import search
from tasks.steps.split import split
from tasks.store import PointRef

STUDY = "node_classification"
UNREAD = "none"
MECHANISMS = ("tasks.client.randomized_response", "tasks.client.multibit")


@dataclass(frozen=True)
class Cell:
    """One line of the table: everything but the repeat."""

    dataset: str
    method: str
    backbone: str
    eps_x: str
    eps_a: str

    @property
    def settings(self) -> dict[str, str]:
        """The row's settings."""
        return {"backbone": self.backbone, "eps_x": self.eps_x, "eps_a": self.eps_a}

    def __str__(self) -> str:
        return f"{self.dataset} {self.method} {self.backbone} eps_x={self.eps_x} eps_a={self.eps_a}"


@dataclass(frozen=True)
class Reports:
    """What the curator received, by (data set, repeat) and, for noisy reports, the budget."""

    splits: dict[tuple[str, int], PointRef]
    labels: dict[tuple[str, int], PointRef]
    features: dict[tuple[str, str, int], PointRef]
    edges: dict[tuple[str, str, int], PointRef]

    def features_of(self, cell: Cell, repeat: int) -> PointRef | None:
        """The cell's feature reports; any will do for a method that reads none of them but their public width."""
        if cell.eps_x != UNREAD:
            return self.features.get((cell.dataset, cell.eps_x, repeat))
        return next((point for key, point in self.features.items() if key[::2] == (cell.dataset, repeat)), None)

    def ledger(self) -> Ledger:
        """One line for each distinct report."""
        drawn = [*self.labels.values(), *self.features.values(), *self.edges.values()]
        return Ledger(tuple(line for report in drawn for line in ledger_lines(report)))

    def complete(self, cell: Cell, repeat: int) -> bool:
        """Whether every report that the cell needs was drawn."""
        drawn = (cell.dataset, cell.eps_a, repeat) in self.edges and (cell.dataset, repeat) in self.labels
        return drawn and self.features_of(cell, repeat) is not None

    def points(self, dataset: str) -> list[PointRef]:
        """The points of one data set that the users' side made."""
        tables = (self.splits, self.labels, self.features, self.edges)
        return [point for table in tables for key, point in table.items() if key[0] == dataset]


def node_classification(study: Study, tracker: Tracker) -> Outcome:
    """Every user reports once per (data set, budget, repeat); the curator trains on the reports; the bench scores."""
    sources = study.sources()
    reports = perturb(study, sources)
    rows: defaultdict[Cell, list[Row]] = defaultdict(list)
    scores: defaultdict[Cell, dict[int, PointRef]] = defaultdict(dict)
    results: defaultdict[str, list[PointRef]] = defaultdict(list)

    for cell, repeat, trained in train(study, reports):
        done = study.here(_score(study, sources[cell.dataset], reports, cell, repeat, trained))
        if done is None:
            continue
        metrics = read_metrics(done.result)
        rows[cell] += [Row(STUDY, cell.dataset, cell.method, cell.settings, repeat, *item) for item in metrics.items()]
        scores[cell][repeat] = done.result
        results[cell.dataset] += [trained, done.result]
        if len(scores[cell]) == study.profile.repeats:
            tracker.cell(str(cell), rows[cell], scores[cell], sources[cell.dataset], MECHANISMS)

    outcome = study.outcome([row for cell in rows for row in rows[cell]], {"": reports.ledger()})
    if study.request.export:
        for dataset in sources:
            export_results(study, outcome, dataset, results[dataset])
    return outcome


def perturb(study: Study, sources: dict[str, RawSource]) -> Reports:
    """The users' side: splits and labels in clear, one feature and one edge report per budget and repeat."""
    grid, seed, store = study.profile.node_classification, study.profile.seed, study.store
    for dataset, (_, _, eps_x, eps_a) in product(sources, lines(grid)):
        spent = {"edges": eps_a} if eps_x == UNREAD else {"features": eps_x, "edges": eps_a}
        require_within(spent, grid.budget, dataset=dataset)
    ceiling = {INFINITE: None} if any(method_named(name).noise_free for name in grid.methods) else {}
    repeats = range(study.profile.repeats)

    splits, labels = deal(study, sources, split, report_labels)
    features = study.collect(
        Call(
            perturb_features,
            f"perturb features {name} eps_x={eps_x} repeat={repeat}",
            {"store": store, "source": source, "eps_x": eps_x, "repeat": repeat, "seed": seed},
            (name, eps_x, repeat),
        )
        for (name, source), eps_x, repeat in product(sources.items(), dict.fromkeys(grid.eps_x) | ceiling, repeats)
    )
    edges = study.collect(
        Call(
            perturb_edges,
            f"perturb edges {name} {grid.mode} eps_a={eps_a} repeat={repeat}",
            {
                "store": store,
                "source": source,
                "mode": grid.mode,
                "eps_a": eps_a,
                "repeat": repeat,
                "seed": seed,
                "memory_limit_mb": grid.memory_limit_mb,
            },
            (name, eps_a, repeat),
        )
        for (name, source), eps_a, repeat in product(sources.items(), dict.fromkeys(grid.eps_a) | ceiling, repeats)
    )
    return Reports(splits, labels, features, edges)


def lines(grid: NodeClassification) -> list[tuple[str, str, str, str]]:
    """The table's lines: method, backbone, eps_x, eps_a; what a method does not read is not a column of its lines."""
    found: dict[tuple[str, str, str, str], None] = {}
    for eps_x, eps_a, name, backbone in product(grid.eps_x, grid.eps_a, grid.methods, grid.backbones):
        method = method_named(name)
        if method.noise_free:
            eps_x = eps_a = INFINITE
        elif "features" not in method.needs:
            eps_x = UNREAD
        found[name, UNREAD if method.backbone_free else backbone, eps_x, eps_a] = None
    return list(found)


def train(study: Study, reports: Reports) -> Iterator[tuple[Cell, int, PointRef]]:
    """The curator's side: every method and backbone on every pair of reports, as they finish."""
    grid = study.profile.node_classification
    cells = [Cell(dataset, *line) for dataset in study.datasets for line in lines(grid)]
    calls = [
        Call(
            search,
            f"search {cell} repeat={repeat}",
            {
                "store": study.store,
                "edges": reports.edges[cell.dataset, cell.eps_a, repeat],
                "features": reports.features_of(cell, repeat),
                "labels": reports.labels[cell.dataset, repeat],
                "dataset": cell.dataset,
                "method": cell.method,
                "backbone": cell.backbone,
                "repeat": repeat,
                "seed": study.profile.seed,
                "device": study.profile.device,
                "study": grid,
            },
            (cell, repeat),
        )
        for cell in cells
        for repeat in range(study.profile.repeats)
        if reports.complete(cell, repeat)
    ]
    for done in study.run(calls):
        yield *done.call.about, done.result


def _score(study: Study, source: RawSource, reports: Reports, cell: Cell, repeat: int, trained: PointRef) -> Call:
    arguments = {
        "store": study.store,
        "source": source,
        "split": reports.splits[cell.dataset, repeat],
        "edges": reports.edges[cell.dataset, cell.eps_a, repeat],
        "trained": trained,
        "label": f"{cell} repeat={repeat}",
    }
    return Call(score, f"score {cell} repeat={repeat}", arguments)
