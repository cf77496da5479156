"""The lines of the table of clustered ego graphs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from flows.context.coverage import ExpectedLine, every_repeat
from flows.studies.graph_classification.grid import EGO_BACKBONES, Cell, embedded, node_counts
from tasks.datasets.catalogue.ego_names import ego_name, whole_of
from tasks.parameters.graphs import EgoClustering
from tasks.parameters.profiles import Profile, section_of


def clustered(grid: EgoClustering, dataset: str) -> list[Cell]:
    """The lines of clustered ego graphs of one reach."""
    return [node_counts(dataset), *embedded(grid, dataset, EGO_BACKBONES, "gw-k-means")]


def expected(profile: Profile, datasets: Sequence[str], found: set[ExpectedLine]) -> set[ExpectedLine]:
    """The lines that the table must have: ego graphs of every reach, of the graphs that the data sets were cut from."""
    grid = section_of(profile, EgoClustering)
    names = [ego_name(whole, hops) for whole, hops in product({whole_of(name) for name in datasets}, grid.hops)]
    return every_repeat([cell for name in names for cell in clustered(grid, name)], profile)
