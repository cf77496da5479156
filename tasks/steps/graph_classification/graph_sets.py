"""Steps that open the study of graph kernels: roles of the graphs, and the labels that the curator knows."""

from __future__ import annotations

from pathlib import Path

from tasks.client.labels import reveal_labels
from tasks.code_version import code_version
from tasks.datasets.catalogue.public import require_kind
from tasks.datasets.graph import RawGraphSet
from tasks.datasets.splits import Split, random_split
from tasks.errors import UserError
from tasks.reports.ledgers.ledger import LedgerLine
from tasks.seeds import derive_seed, generator
from tasks.steps.download import RawSource
from tasks.steps.node_classification.perturb import REPORT
from tasks.steps.point import point_task
from tasks.steps.report_point import report_point
from tasks.steps.split import SPLIT
from tasks.store import PointRef, PointStore

STUDY = "graph_classification"
FRACTIONS = (0.7, 0.2, 0.1)
"""Shares of training, validation and test graphs."""


def graph_set(source: RawSource) -> RawGraphSet:
    """The raw graphs.

    Raises:
        UserError: when the data set is one graph, or one of its graphs has no nodes.
    """
    graphs = source.load()
    require_kind("graph_classification", source.name, graphs.kind)
    assert isinstance(graphs, RawGraphSet)
    for number, graph in enumerate(graphs.graphs):
        if graph.nodes == 0:
            raise UserError(f"{source.name}: graph {number} has no nodes; remove it")
    return graphs


@point_task()
def split_graphs(store: PointStore, source: RawSource, repeat: int, seed: int | None) -> PointRef:
    """The split of one repeat, drawn before anything is trained: networks and kernel machines share it."""
    role_seed = derive_seed(seed, study="split", dataset=source.name, point="70/20/10", repeat=repeat, role="bench")

    def compute(folder: Path) -> None:
        random_split(graph_set(source).labels, generator(role_seed), FRACTIONS).save(folder / SPLIT)

    key = {
        "step": "split graphs",
        "raw": source.content,
        "fractions": FRACTIONS,
        "repeat": repeat,
        "seed": role_seed,
        "code": code_version("tasks.datasets.splits"),
    }
    return store.point(key, compute, label=f"split {source.name} repeat={repeat}", private=source.private)


@point_task()
def report_graph_labels(store: PointStore, source: RawSource, split: PointRef, *, repeat: int) -> PointRef:
    """The classes of the training and validation graphs, in clear."""

    def send(_: int | None, folder: Path) -> LedgerLine:
        graphs, parts = graph_set(source), Split.load(split.file(SPLIT))
        report = reveal_labels(
            graphs.labels,
            parts.train,
            parts.validation,
            classes=graphs.classes,
            dataset=graphs.name,
            notes=graphs.notes,
            of="graphs",
        )
        report.save(folder / REPORT)
        return report.ledger

    return report_point(
        store,
        source,
        send,
        study=STUDY,
        module="tasks.client.labels",
        kind="labels of graphs",
        point="in clear",
        repeat=repeat,
        seed=None,
        inputs={"split": split.content},
    )
