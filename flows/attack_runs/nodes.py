"""Attacks on one graph's reports and on the models that are trained on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tasks.curator.calibration.mutual import mutual_graph
from tasks.curator.trained import Trained
from tasks.datasets.graph import RawGraph
from tasks.datasets.splits import Split
from tasks.epsilon import INFINITE
from tasks.evaluation.attacks.attribute_inference import (
    AttributeSample,
    infer_from_neighbours,
    infer_from_reports,
    sample_attributes,
)
from tasks.evaluation.attacks.edge_inference import infer_edges
from tasks.evaluation.attacks.informed_edges import infer_informed
from tasks.evaluation.attacks.link_stealing import class_control, steal_links, stolen_precision
from tasks.evaluation.attacks.pairs import PairSample, sample_pairs
from tasks.evaluation.node_classification.scoring import score
from tasks.evaluation.tables.rows import Row
from tasks.parameters.classification import NodeClassification, Search
from tasks.reports.edge import EdgeReport
from tasks.reports.feature import FeatureReport
from tasks.reports.label import LabelReport
from tasks.seeds import derive_seed, generator
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import perturb_edges, perturb_features, report_labels
from tasks.steps.node_classification.search import TRAINED, search
from tasks.steps.raw_source import one_graph
from tasks.steps.report_point import REPORT
from tasks.steps.seeds import EVALUATION
from tasks.steps.split import SPLIT, split
from tasks.store import PointRef, PointStore

STUDY = "attacks"
METHODS = ("base", "mutual", "bayes-soft")
BACKBONE = "sage"
EPS_X = "1"
ALL_PAIRS = 10_000  # nodes; above, every pair's similarity would take gigabytes
FEATURE_BUDGETS = ("0.5", "1", "2", "4", "8", INFINITE)
# One configuration, not a search: the sweep reaches budgets where the graph is dense and an epoch is slow.
CONFIGURATION = Search(
    learning_rate=[0.01], dropout=[0.5], weight_decay=[0.01], l_x=[4], l_y=[0], epochs=200, patience=50
)  # fmt: skip

SETTINGS: dict[str, Any] = {
    "mode": "directed",
    "backbone": BACKBONE,
    "methods": METHODS,
    "eps_x": EPS_X,
    "feature_budgets": FEATURE_BUDGETS,
    "similarity": "correlation of class probabilities, fixed beforehand",
    "search": CONFIGURATION.model_dump(exclude={"points", "minutes", "factor", "rungs"}),
}
"""What the rows do not say, for the record."""

Part = tuple[str, list[Row]]


def node_rows(store: PointStore, source: RawSource, budgets: Sequence[str], repeats: int, seed: int) -> Iterator[Part]:
    """The rows of every repeat and budget, as they are measured.

    Raises:
        UserError: for a graph without classes or features.
    """
    graph = one_graph(source, STUDY)
    for repeat in range(repeats):
        attacked = _AttackedRepeat(store, source, graph, repeat, repeats, seed)
        yield f"{source.name} features repeat={repeat}", attacked.attributes()
        for eps_a in budgets:
            yield f"{source.name} eps_a={eps_a} repeat={repeat}", attacked.edges(eps_a)


class _AttackedRepeat:
    """One repeat: its split, its feature reports, and the samples that all its attacks are judged by."""

    def __init__(
        self, store: PointStore, source: RawSource, graph: RawGraph, repeat: int, repeats: int, seed: int
    ) -> None:
        self.store, self.source, self.graph, self.seed = store, source, graph, seed
        self.repeat, self.repeats = repeat, repeats
        self.split: PointRef = split.plain(store, source, repeat, seed)  # type: ignore[attr-defined]
        self.labels: PointRef = report_labels.plain(store, source, self.split, repeat=repeat)  # type: ignore[attr-defined]
        self.features = {eps_x: self._features(eps_x) for eps_x in FEATURE_BUDGETS}
        self.pairs: PairSample = sample_pairs(graph, generator(self._seed("pairs")))
        self.entries: AttributeSample = sample_attributes(graph, generator(self._seed("entries")))

    def attributes(self) -> list[Row]:
        """What feature reports give away by themselves, and the control that knows the classes alone."""
        rows = [self._row("classes", "control", "same class", "auc", class_control(self.graph, self.pairs))]
        for eps_x, point in self.features.items():
            report = FeatureReport.load(point.file(REPORT))
            for reading, auc in infer_from_reports(self.graph, report, self.entries).items():
                rows.append(self._row("reports", "attributes", reading, "auc", auc, eps_x=eps_x))
        return rows

    def edges(self, eps_a: str) -> list[Row]:
        """One edge report: attacked, and through the models that are trained on it."""
        point = self._edges(eps_a, self.repeat)
        report = EdgeReport.load(point.file(REPORT))
        found = infer_edges(self.graph, report, self.pairs)
        rows = [self._row("reports", "edges", name, "auc", auc, eps_a=eps_a) for name, auc in found.auc.items()]
        rows.append(self._row("reports", "edges", "both lists", "precision", found.precision, eps_a=eps_a))
        rows.append(self._row("reports", "edges", "blind guess", "precision", found.base_rate, eps_a=eps_a))
        rows += self._informed(eps_a)
        reported = FeatureReport.load(self.features[EPS_X].file(REPORT))
        for reading, lists in (("noisy graph", report.adjacency()), ("mutual", mutual_graph(report))):
            auc = infer_from_neighbours(reported, lists, self.entries)
            rows.append(self._row("reports", "attributes", reading, "auc", auc, eps_a=eps_a, eps_x=EPS_X))
        for method in METHODS:
            rows += self._model(method, eps_a, point)
        return rows

    def _informed(self, eps_a: str) -> list[Row]:
        """Attacks that know the labels in clear: on this repeat's report, and on those of all repeats together."""
        if self.graph.nodes > ALL_PAIRS:
            return []
        labels = LabelReport.load(self.labels.file(REPORT))
        drawn = {repeat: EdgeReport.load(self._edges(eps_a, repeat).file(REPORT)) for repeat in range(self.repeats)}
        attacks = {"edges with labels": [drawn[self.repeat]], "edges of all repeats": list(drawn.values())}
        return [
            self._row("reports", attack, reading, metric, getattr(ranking, metric), eps_a=eps_a)
            for attack, reports in attacks.items()
            for reading, ranking in infer_informed(self.graph, reports, labels, self.pairs).items()
            for metric in ("auc", "precision")
        ]

    def _model(self, method: str, eps_a: str, edges: PointRef) -> list[Row]:
        grid = NodeClassification(
            datasets=[self.source.name], eps_x=[EPS_X], eps_a=[eps_a], methods=[method], search=CONFIGURATION
        )
        trained: PointRef = search.plain(  # type: ignore[attr-defined]
            self.store,
            edges,
            self.features[EPS_X],
            self.labels,
            dataset=self.source.name,
            method=method,
            backbone=BACKBONE,
            repeat=self.repeat,
            seed=self.seed,
            device="cpu",
            study=grid,
        )
        published = Trained.load(trained.file(TRAINED)).log_probabilities
        test, labels = Split.load(self.split.file(SPLIT)).test, self.graph.labels
        assert labels is not None  # the split was drawn from them
        accuracy = score(published, test, labels[test], self.graph.classes)["accuracy"]
        spent = {"eps_a": eps_a, "eps_x": EPS_X}
        rows = [self._row(method, "none", "predictions", "accuracy", accuracy, **spent)]
        for name, auc in steal_links(self.graph, published, self.pairs).items():
            rows.append(self._row(method, "links", name, "auc", auc, **spent))
        if self.graph.nodes <= ALL_PAIRS:
            precision = stolen_precision(self.graph, published)
            rows.append(self._row(method, "links", "correlation", "precision", precision, **spent))
        return rows

    def _edges(self, eps_a: str, repeat: int) -> PointRef:
        drawn: PointRef = perturb_edges.plain(  # type: ignore[attr-defined]
            self.store,
            self.source,
            mode="directed",
            eps_a=eps_a,
            repeat=repeat,
            seed=self.seed,
            memory_limit_mb=2000,
        )
        return drawn

    def _features(self, eps_x: str) -> PointRef:
        drawn: PointRef = perturb_features.plain(  # type: ignore[attr-defined]
            self.store, self.source, eps_x=eps_x, repeat=self.repeat, seed=self.seed
        )
        return drawn

    def _seed(self, point: str) -> int | None:
        return derive_seed(
            self.seed, study=STUDY, dataset=self.source.name, point=point, repeat=self.repeat, role=EVALUATION
        )

    def _row(self, method: str, attack: str, reading: str, metric: str, value: float, **budgets: Any) -> Row:
        settings = {"attack": attack, "reading": reading, **budgets}
        return Row(STUDY, self.source.name, method, settings, self.repeat, metric, value)
