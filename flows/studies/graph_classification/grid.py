"""The lines of the tables on reported graph embeddings: which method meets which reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flows.context.coverage import ExpectedLine, every_repeat
from tasks.datasets.catalogue.public import public_dataset
from tasks.epsilon import INFINITE
from tasks.parameters.graphs import EmbeddedGraphs, GraphClassification
from tasks.parameters.profiles import Profile, section_of
from tasks.reports.ledgers.units import Spent, in_clear

if TYPE_CHECKING:
    from tasks.models.graph_architecture import GraphBackbone

NO_NOISE = "none"
"""The encoder's name where there is no noise."""
EGO_BACKBONES: tuple[GraphBackbone, ...] = ("gcn",)
"""The paper's network for ego graphs: two layers see as far as they reach."""


@dataclass(frozen=True)
class Cell:
    """One line of the table: everything but the repeat. ``input`` bears the published table's names.

    ``<backbone>-H-ldp`` is a noisy embedding under whatever encoder, also one without a guarantee.
    """

    dataset: str
    method: str
    input: str = "raw"
    backbone: str = ""
    encoder: str = ""
    eps: str = ""

    @property
    def settings(self) -> dict[str, str]:
        """The row's settings: those that the method has."""
        given = {"input": self.input, "backbone": self.backbone, "encoder": self.encoder, "eps": self.eps}
        return {name: value for name, value in given.items() if value}

    def __str__(self) -> str:
        known = [f"{name}={value}" for name, value in self.settings.items() if name in ("encoder", "eps")]
        return " ".join([self.dataset, self.method, self.input, *known])


def embedded(
    grid: EmbeddedGraphs, dataset: str, backbones: Sequence[GraphBackbone], method: str = "svm-gw"
) -> Iterator[Cell]:
    """A method on embeddings: without noise once, with noise for every encoder and budget."""
    for backbone in backbones:
        for eps in grid.eps:
            if eps == INFINITE:
                yield Cell(dataset, method, f"{backbone}-H", backbone, NO_NOISE, eps)
            else:
                for encoder in grid.encoders:
                    yield Cell(dataset, method, f"{backbone}-H-ldp", backbone, encoder, eps)


def baselines(grid: GraphClassification, dataset: str) -> Iterator[Cell]:
    """The methods on raw graphs, and the control."""
    for baseline in grid.baselines:
        if baseline == "gnn":
            yield from (Cell(dataset, backbone, backbone=backbone) for backbone in grid.backbones)
        elif baseline == "node-count":
            yield node_counts(dataset)
        # Without features of nodes there is nothing to fuse with.
        elif baseline != "svm-fgw" or public_dataset(dataset).feature_bounds is not None:
            yield Cell(dataset, baseline)


def node_counts(dataset: str) -> Cell:
    """The control."""
    return Cell(dataset, "node-count", "node counts")


def classified(grid: GraphClassification, dataset: str) -> list[Cell]:
    """The lines of graph classification on one data set."""
    return [*baselines(grid, dataset), *embedded(grid, dataset, grid.backbones)]


def expected(profile: Profile, datasets: Sequence[str], found: set[ExpectedLine]) -> set[ExpectedLine]:
    """The lines that the table must have."""
    grid = section_of(profile, GraphClassification)
    return every_repeat([cell for dataset in datasets for cell in classified(grid, dataset)], profile)


def costs(profile: Profile, datasets: Sequence[str]) -> Iterator[tuple[str, dict[str, Spent]]]:
    """A graph's embedding has a budget, training has none: no finite budget holds for both."""
    return ((dataset, {"model updates, in clear": in_clear("graph")}) for dataset in datasets)
