"""The users' side of the node classification study: every report that its lines need, drawn once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from flows.context.splits import partition
from flows.context.study import Study
from flows.studies.node_classification.grid import UNREAD, Cell, feature_budgets, lines, width_budget
from tasks.datasets.label_rates import FULL
from tasks.parameters.classification import NodeClassification
from tasks.parameters.profiles import section_of
from tasks.reports.ledgers.ledger import Ledger
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import perturb_edges, perturb_features, report_labels
from tasks.steps.report_point import ledger_lines
from tasks.steps.seeds import split_seed
from tasks.steps.split import split
from tasks.store import PointRef


@dataclass(frozen=True)
class Reports:
    """What the curator received: by data set, then what the report was drawn for, then repeat."""

    splits: dict[tuple[str, int], PointRef]
    labels: dict[tuple[str, float, int], PointRef]
    features: dict[tuple[str, str, int], PointRef]
    edges: dict[tuple[str, str, str, int], PointRef]
    featureless: frozenset[str] = frozenset()

    def of(self, cell: Cell, repeat: int) -> dict[str, PointRef | None] | None:
        """The three reports of a cell; None when one of them could not be drawn.

        A method that reads no features gets any: their public width is all it takes from them. Of a ``featureless``
        data set it gets none.
        """
        line = cell.line
        if line.eps_x == UNREAD:
            features = next((x for key, x in self.features.items() if key[::2] == (cell.dataset, repeat)), None)
        else:
            features = self.features.get((cell.dataset, line.eps_x, repeat))
        edges = self.edges.get((cell.dataset, line.mode, line.eps_a, repeat))
        labels = self.labels.get((cell.dataset, line.label_rate, repeat))
        if edges is None or labels is None or (features is None and cell.dataset not in self.featureless):
            return None
        return {"edges": edges, "features": features, "labels": labels}

    def ledger(self) -> Ledger:
        """One line for each distinct report."""
        drawn = [*self.labels.values(), *self.features.values(), *self.edges.values()]
        return Ledger(tuple(line for report in drawn for line in ledger_lines(report)))

    def points(self, dataset: str) -> list[PointRef]:
        """The points of one data set that the users' side made."""
        tables = (self.splits, self.labels, self.features, self.edges)
        return [point for table in tables for key, point in table.items() if key[0] == dataset]


def perturb(study: Study, sources: dict[str, RawSource]) -> Reports:
    """Splits and labels in clear, one feature and one edge report per budget and repeat."""
    grid = section_of(study.profile, NodeClassification)
    needed = lines(grid)
    repeats = range(study.profile.repeats)
    reading = feature_budgets(needed)
    without = {name for name, source in sources.items() if source.own and source.own.features is None}
    featureless = frozenset() if reading else frozenset(without)  # what reads features, refuses to do without

    splits, full = partition(study, sources, split, report_labels)
    labels = {(name, FULL, repeat): point for (name, repeat), point in full.items()} | _fewer_labels(
        study, sources, splits, [rate for rate in dict.fromkeys(line.label_rate for line in needed) if rate != FULL]
    )
    features = study.collect(
        study.call(
            perturb_features,
            "perturb features",
            f"{name} eps_x={eps_x}",
            repeat,
            key=(name, eps_x, repeat),
            source=source,
            eps_x=eps_x,
        )
        for (name, source), eps_x, repeat in product(sources.items(), reading or [width_budget(grid)], repeats)
        if name not in featureless
    )
    edges = study.collect(
        study.call(
            perturb_edges,
            "perturb edges",
            f"{name} {mode} eps_a={eps_a}",
            repeat,
            key=(name, mode, eps_a, repeat),
            source=source,
            mode=mode,
            eps_a=eps_a,
            memory_limit_mb=grid.memory_limit_mb,
        )
        for (name, source), (mode, eps_a), repeat in product(
            sources.items(), dict.fromkeys((line.mode, line.eps_a) for line in needed), repeats
        )
    )
    return Reports(splits, labels, features, edges, featureless)


def _fewer_labels(
    study: Study, sources: dict[str, RawSource], splits: dict[tuple[str, int], PointRef], rates: list[float]
) -> dict[tuple[str, float, int], PointRef]:
    """Label reports of nested parts of the training nodes; one public order for each data set and repeat."""

    def order(dataset: str, repeat: int) -> int:
        derived: int = split_seed("label rate").of(dataset=dataset, seed=study.public_seed, repeat=repeat)
        return derived

    return study.collect(
        study.call(
            report_labels,
            "report labels",
            f"{name} label_rate={rate:g}",
            repeat,
            key=(name, rate, repeat),
            source=sources[name],
            split=point,
            label_rate=rate,
            order=order(name, repeat),
        )
        for ((name, repeat), point), rate in product(splits.items(), rates)
    )
