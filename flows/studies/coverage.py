"""Whether rows are what a profile asks for: results kept with the code must be those of the parameters beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from flows.studies.graph_classification.grid import Cell as GraphCell
from flows.studies.graph_classification.grid import classified, clustered
from flows.studies.node_classification.grid import SHARED_CHOICE, UNREAD, lines
from flows.studies.node_classification.grid import Cell as ClassificationCell
from flows.studies.node_embedding.grid import Cell as EmbeddingCell
from flows.studies.node_embedding.grid import wanted_lines
from tasks.datasets.catalogue.ego_names import ego_name, whole_of
from tasks.errors import UserError
from tasks.evaluation.node_embedding.embedding_lines import SCORINGS
from tasks.evaluation.tables.rows import Row
from tasks.parameters.profiles import Profile


@dataclass(frozen=True, order=True)
class Place:
    """A table's line in one repeat."""

    dataset: str
    method: str
    settings: tuple[tuple[str, str], ...]
    repeat: int

    @classmethod
    def of(cls, dataset: str, method: str, settings: Mapping[str, str], repeat: int) -> Place:
        """The place of these settings in any order."""
        return cls(dataset, method, tuple(sorted(settings.items())), repeat)

    def __str__(self) -> str:
        settings = [f"{name}={value}" for name, value in self.settings]
        return " ".join([self.dataset, self.method, *settings, f"repeat={self.repeat}"])


def check_coverage(rows: Sequence[Row], profile: Profile) -> None:
    """Passes when every line of the grid has a row for every repeat on each of the rows' data sets, and no other has.

    Raises:
        UserError: naming the first line that one side lacks; for rows of something that has no grid.
    """
    (study,) = {row.study for row in rows}
    if study not in LISTED:
        raise UserError(f"rows of {study} are of no study with a grid; give those of {', '.join(LISTED)}")
    datasets = sorted({row.dataset for row in rows})
    found = {Place.of(row.dataset, row.method, row.settings, row.repeat) for row in rows}
    wanted = LISTED[study](profile, datasets, found)
    if strange := sorted(found - wanted):
        raise UserError(
            f"{strange[0]} is not in the grid ({len(strange)} such lines); give the run's --profile and --set"
        )
    if lacking := sorted(wanted - found):
        raise UserError(
            f"{lacking[0]} has no row ({len(lacking)} such lines); add its rows or narrow the grid with --set"
        )


def _classification(profile: Profile, datasets: list[str], found: set[Place]) -> set[Place]:
    grid = profile.node_classification
    cells = [ClassificationCell(dataset, line) for dataset in datasets for line in lines(grid)]
    if grid.shared_choice:
        cells += [replace(cell, protocol=SHARED_CHOICE) for cell in cells if cell.line.backbone != UNREAD]
    return _every_repeat(cells, profile)


def _embedding(profile: Profile, datasets: list[str], found: set[Place]) -> set[Place]:
    """The number of bins that ``auto`` stands for follows from the data: it is the one that fits the rows best."""
    places: set[Place] = set()
    for dataset in datasets:
        own = {place for place in found if place.dataset == dataset}
        numbers = sorted({dict(place.settings).get("k", "auto") for place in own})
        possible = [_embedded(profile, dataset, number) for number in numbers]
        places |= min(possible, key=lambda wanted: len(wanted ^ own))
    return places


def _embedded(profile: Profile, dataset: str, automatic: str) -> set[Place]:
    grid = profile.node_embedding
    places = set()
    wanted = wanted_lines(grid, [dataset], profile.repeats)
    for want, ratio, scoring in product(wanted, grid.train_ratios, SCORINGS):
        bins = want.line.bins
        cell = EmbeddingCell.of(want, automatic if bins == "auto" else str(bins))
        settings = cell.settings | {"train_ratio": f"{ratio:g}", "scoring": scoring}
        places.add(Place.of(dataset, cell.method, settings, want.repeat))
    return places


def _graphs(profile: Profile, datasets: list[str], found: set[Place]) -> set[Place]:
    grid = profile.graph_classification
    return _every_repeat([cell for dataset in datasets for cell in classified(grid, dataset)], profile)


def _egos(profile: Profile, datasets: list[str], found: set[Place]) -> set[Place]:
    """Ego graphs of every reach, of the graphs that the rows' data sets were cut from."""
    grid = profile.ego_clustering
    names = [ego_name(whole, hops) for whole, hops in product({whole_of(name) for name in datasets}, grid.hops)]
    return _every_repeat([cell for name in names for cell in clustered(grid, name)], profile)


def _every_repeat(cells: Iterable[ClassificationCell | GraphCell], profile: Profile) -> set[Place]:
    repeats = range(profile.repeats)
    return {Place.of(cell.dataset, cell.method, cell.settings, repeat) for cell, repeat in product(cells, repeats)}


LISTED: dict[str, Callable[[Profile, list[str], set[Place]], set[Place]]] = {
    "node_classification": _classification,
    "node_embedding": _embedding,
    "graph_classification": _graphs,
    "ego_clustering": _egos,
}
