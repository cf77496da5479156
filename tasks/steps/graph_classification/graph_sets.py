"""Steps that open the study of graph kernels: roles of the graphs, and the labels that the curator knows."""

from __future__ import annotations

from tasks.client.labels import reveal_labels
from tasks.datasets.catalogue.public import require_kind
from tasks.datasets.graph import RawGraphSet
from tasks.datasets.splits import Split, random_split
from tasks.errors import UserError
from tasks.seeds import generator
from tasks.steps.declaration import Draft
from tasks.steps.point import point
from tasks.steps.raw_source import RawSource
from tasks.steps.report_point import Report, client_report
from tasks.steps.seeds import split_seed
from tasks.steps.split import SPLIT
from tasks.store import PointRef

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


@point(
    label="split {source.name} repeat={repeat}",
    seed=split_seed("70/20/10"),
    also=lambda of: {"fractions": FRACTIONS},
)
def split_graphs(draft: Draft, source: RawSource, repeat: int, seed: int | None) -> None:
    """The split of one repeat, drawn before anything is trained: networks and kernel machines share it."""
    random_split(graph_set(source).labels, generator(draft.seed), FRACTIONS).save(draft.file(SPLIT))


@client_report("labels of graphs", study=STUDY, point="in clear")
def report_graph_labels(draft: Draft, source: RawSource, split: PointRef, *, repeat: int) -> Report:
    """The classes of the training and validation graphs, in clear."""
    graphs, parts = graph_set(source), Split.load(split.file(SPLIT))
    return reveal_labels(
        graphs.labels,
        parts.train,
        parts.validation,
        classes=graphs.classes,
        dataset=graphs.name,
        notes=graphs.notes,
        charge=draft.charge,
        of="graphs",
    )
