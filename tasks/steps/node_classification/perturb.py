"""Steps on the users' side: each draws one report, once, as a point of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tasks.client.labels import reveal_labels
from tasks.client.multibit import encode_features
from tasks.client.noise_source import noise_generator
from tasks.client.randomized_response import randomise_neighbour_lists
from tasks.code_version import code_version
from tasks.datasets.graph import RawGraph
from tasks.datasets.label_rates import FULL, with_label_rate
from tasks.datasets.splits import Split
from tasks.errors import UserError
from tasks.reports.edge import EdgeReport
from tasks.reports.edge_mode import EdgeMode
from tasks.reports.feature import FeatureReport
from tasks.reports.label import LabelReport
from tasks.reports.ledgers.ledger import LedgerLine
from tasks.seeds import generator
from tasks.steps.download import RawSource
from tasks.steps.point import point_task
from tasks.steps.report_point import client_point
from tasks.steps.split import SPLIT
from tasks.store import PointRef, PointStore

REPORT = "report.npz"
FREE = "random-features, constant-features, label-propagation"


@point_task()
def perturb_edges(
    store: PointStore,
    source: RawSource,
    *,
    mode: EdgeMode,
    eps_a: str,
    repeat: int,
    seed: int | None,
    memory_limit_mb: int,
) -> PointRef:
    """Randomised response on every neighbour list (Solitude, eq. 4)."""
    point = f"{mode} eps_a={eps_a}"

    def draw(graph: RawGraph, noise_seed: int | None) -> EdgeReport:
        return randomise_neighbour_lists(
            graph.adjacency,
            eps_a,
            mode,
            noise_generator(noise_seed),
            memory_limit_mb=memory_limit_mb,
            simulated=noise_seed is not None,
            dataset=graph.name,
            notes=graph.notes,
        )

    return _report(store, source, "tasks.client.randomized_response", "edges", point, repeat, seed, draw)


@point_task()
def perturb_features(store: PointStore, source: RawSource, *, eps_x: str, repeat: int, seed: int | None) -> PointRef:
    """The multi-bit mechanism on every feature vector (Solitude, eq. 7 to 9)."""

    def draw(graph: RawGraph, noise_seed: int | None) -> FeatureReport:
        if graph.features is None:
            raise UserError(f"{graph.name} has no node features; give some, or choose methods that need none: {FREE}")
        return encode_features(
            graph.features,
            graph.feature_bounds,
            eps_x,
            noise_generator(noise_seed),
            simulated=noise_seed is not None,
            dataset=graph.name,
            notes=graph.notes,
        )

    return _report(store, source, "tasks.client.multibit", "features", f"eps_x={eps_x}", repeat, seed, draw)


@point_task()
def report_labels(
    store: PointStore, source: RawSource, split: PointRef, *, repeat: int, label_rate: float = FULL, order: int = 0
) -> PointRef:
    """The labels that the method assumes the curator knows: training and validation nodes, in clear.

    Below the full rate ``order`` is the seed of the order in which training nodes are taken; it is public.
    """
    reduced = {"label_rate": f"{label_rate:g}", "order": str(order), "code": code_version("tasks.datasets.label_rates")}

    def draw(graph: RawGraph, _: int | None) -> LabelReport:
        if graph.labels is None:
            raise UserError(f"{graph.name} has no labels; node classification needs some")
        try:
            parts = with_label_rate(Split.load(split.file(SPLIT)), label_rate, generator(order))
        except UserError as error:
            raise UserError(f"{graph.name}: {error}; take a larger one of label_rates or label more nodes") from None
        return reveal_labels(
            graph.labels, parts.train, parts.validation, classes=graph.classes, dataset=graph.name, notes=graph.notes
        )

    inputs = {"split": split.content, **({} if label_rate == FULL else reduced)}
    return _report(store, source, "tasks.client.labels", "labels", "in clear", repeat, None, draw, inputs)


def _report(
    store: PointStore,
    source: RawSource,
    module: str,
    kind: str,
    point: str,
    repeat: int,
    seed: int | None,
    draw: Callable[[RawGraph, int | None], EdgeReport | FeatureReport | LabelReport],
    inputs: dict[str, str] | None = None,
) -> PointRef:
    def saved(graph: RawGraph, noise_seed: int | None, folder: Path) -> LedgerLine:
        report = draw(graph, noise_seed)
        report.save(folder / REPORT)
        return report.ledger

    return client_point(
        store,
        source,
        saved,
        study="node_classification",
        module=module,
        kind=kind,
        point=point,
        repeat=repeat,
        seed=seed,
        inputs=inputs,
    )
