"""The clients' side of the graph study: roles and labels, federated training, and the encoded embeddings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from flows.context.splits import Splits, partition
from flows.context.study import Study
from flows.studies.graph_classification.grid import NO_NOISE, Cell, embedded
from tasks.models.graph_architecture import GraphBackbone, Level
from tasks.parameters.graphs import EmbeddedGraphs, GraphClassification
from tasks.parameters.profiles import section_of
from tasks.reports.encoders import GUARANTEES
from tasks.reports.ledgers.ledger import Ledger
from tasks.steps.download import RawSource
from tasks.steps.graph_classification.embed_graphs import encode_graphs, train_federation
from tasks.steps.graph_classification.graph_sets import report_graph_labels, split_graphs
from tasks.steps.report_point import ledger_lines
from tasks.store import PointRef


@dataclass(frozen=True)
class Reports:
    """What the clients made: by (data set, repeat), by (data set, backbone, repeat), and by cell and repeat."""

    splits: dict[tuple[str, int], PointRef]
    labels: dict[tuple[str, int], PointRef]
    federations: dict[tuple[str, GraphBackbone, int], PointRef]
    embeddings: dict[tuple[Cell, int], PointRef]

    def points(self, dataset: str) -> list[PointRef]:
        """What the curator received of one data set."""
        labels = [point for (name, _), point in self.labels.items() if name == dataset]
        return labels + [point for (cell, _), point in self.embeddings.items() if cell.dataset == dataset]

    def kept(self, dataset: str) -> list[PointRef]:
        """What stayed with the clients and the evaluation of one data set."""
        splits = [point for (name, _), point in self.splits.items() if name == dataset]
        return splits + [point for (name, *_), point in self.federations.items() if name == dataset]


def embedding_grid(study: Study) -> EmbeddedGraphs:
    """The section of the study at hand."""
    assert isinstance(study.grid, EmbeddedGraphs)
    return study.grid


def gather(study: Study, sources: dict[str, RawSource]) -> Reports:
    """One split a repeat; networks trained on raw graphs over all clients; one report for every encoder and budget."""
    splits, labels = partition(study, sources, split_graphs, report_graph_labels)
    federations = federate(study, sources, splits, section_of(study.profile, GraphClassification).backbones)
    return Reports(splits, labels, federations, encode(study, sources, federations))


def federate(
    study: Study,
    sources: Mapping[str, RawSource],
    splits: Splits,
    backbones: Sequence[GraphBackbone],
    level: Level = "graph",
) -> dict[tuple[str, GraphBackbone, int], PointRef]:
    """Networks trained over all clients, by (data set, backbone, repeat)."""
    return study.collect(
        study.call(
            train_federation,
            "federate",
            f"{name} {backbone}",
            repeat,
            key=(name, backbone, repeat),
            source=sources[name],
            split=point,
            backbone=backbone,
            level=level,
        )
        for ((name, repeat), point), backbone in product(splits.items(), backbones)
    )


def encode(
    study: Study,
    sources: Mapping[str, RawSource],
    federations: Mapping[tuple[str, GraphBackbone, int], PointRef],
    method: str = "svm-gw",
) -> dict[tuple[Cell, int], PointRef]:
    """One report of all embeddings for each cell of ``embedded`` and repeat."""
    return study.collect(
        study.call(
            encode_graphs,
            "encode",
            cell,
            repeat,
            source=sources[name],
            federation=trained,
            backbone=backbone,
            # Exact embeddings have no encoder; the report has a field for one.
            encoder="per_row" if cell.encoder == NO_NOISE else cell.encoder,
            eps=cell.eps,
        )
        for (name, backbone, repeat), trained in federations.items()
        for cell in embedded(embedding_grid(study), name, [backbone], method)
    )


def ledgers(study: Study, datasets: Iterable[str], reports: Reports) -> dict[str, Ledger]:
    """One for each encoder, for a graph is reported under one: its budget, and training, which has none."""
    found = {}
    for dataset, encoder in product(datasets, (*embedding_grid(study).encoders, NO_NOISE)):
        chosen = [key for key in reports.embeddings if (key[0].dataset, key[0].encoder) == (dataset, encoder)]
        trained = {(dataset, cell.backbone, repeat) for cell, repeat in chosen}
        labels = {(dataset, repeat) for _, repeat in chosen}
        sent = (
            [reports.embeddings[key] for key in chosen]
            + [point for key, point in reports.federations.items() if key in trained]
            + [reports.labels[key] for key in labels if key in reports.labels]
        )
        if sent:
            exact = encoder == NO_NOISE
            name, guarantee = ("No encoder", "none") if exact else (f"Encoder {encoder}", GUARANTEES[encoder])
            title = f"{name} on {dataset}, guaranteed for the embedding: {guarantee}; for training: none"
            found[title] = Ledger(tuple(line for point in sent for line in ledger_lines(point)))
    return found
