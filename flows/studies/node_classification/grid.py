"""The lines of the node classification table: which method meets which reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from flows.context.coverage import ExpectedLine, every_repeat
from tasks.curator.methods import method_named
from tasks.datasets.label_rates import FULL
from tasks.epsilon import INFINITE
from tasks.parameters.classification import NodeClassification
from tasks.parameters.profiles import Profile, section_of
from tasks.reports.edge_mode import EdgeMode, ends_of
from tasks.reports.ledgers.units import Spent, spent_on_bits

UNREAD = "none"
SHARED_CHOICE = "shared choice"
"""The label of the second protocol, where all repeats share one configuration of hyper-parameters."""


@dataclass(frozen=True)
class Line:
    """What a line says beside its data set; what a method does not read is ``none``."""

    method: str
    backbone: str
    eps_x: str
    eps_a: str
    mode: EdgeMode
    label_rate: float = FULL


@dataclass(frozen=True)
class Cell:
    """One line on one data set: everything but the repeat. ``protocol`` is empty for a choice in every repeat."""

    dataset: str
    line: Line
    protocol: str = ""

    @property
    def method(self) -> str:
        """The method's name, with the protocol of the choice where it is not the first."""
        return f"{self.line.method} ({self.protocol})" if self.protocol else self.line.method

    @property
    def settings(self) -> dict[str, str]:
        """The row's settings."""
        line = self.line
        return {
            "backbone": line.backbone,
            "eps_x": line.eps_x,
            "eps_a": line.eps_a,
            "mode": line.mode,
            "label_rate": f"{line.label_rate:g}",
        }

    def __str__(self) -> str:
        line = self.line
        text = f"{self.dataset} {self.method} {line.backbone} eps_x={line.eps_x} eps_a={line.eps_a}"
        text += "" if line.mode == "directed" else f" {line.mode}"
        return text + ("" if line.label_rate == FULL else f" label_rate={line.label_rate:g}")


def lines(study: NodeClassification) -> list[Line]:
    """The lines of the study's grid and of its parts, each once."""
    found: dict[Line, None] = {}
    for grid in study.grids():
        axes = (grid.label_rates, grid.eps_x, grid.eps_a, grid.methods, grid.backbones)
        for rate, eps_x, eps_a, name, backbone in product(*axes):
            method = method_named(name)
            if method.noise_free:
                eps_x = eps_a = INFINITE
            elif "features" not in method.needs:
                eps_x = UNREAD
            kind = UNREAD if method.backbone_free else backbone
            found[Line(name, kind, eps_x, eps_a, grid.mode, rate)] = None
    return list(found)


def feature_budgets(needed: Iterable[Line]) -> list[str]:
    """The budgets at which some line reads the users' features, each once."""
    return list(dict.fromkeys(line.eps_x for line in needed if line.eps_x != UNREAD))


def width_budget(grid: NodeClassification) -> str:
    """Of the report of features that is drawn for their public width alone, where no line reads any."""
    return grid.eps_x[0]


def expected(profile: Profile, datasets: Sequence[str], found: set[ExpectedLine]) -> set[ExpectedLine]:
    """The lines that the table must have."""
    grid = section_of(profile, NodeClassification)
    cells = [Cell(dataset, line) for dataset in datasets for line in lines(grid)]
    if grid.shared_choice:
        cells += [replace(cell, protocol=SHARED_CHOICE) for cell in cells if cell.line.backbone != UNREAD]
    return every_repeat(cells, profile)


def costs(profile: Profile, datasets: Sequence[str]) -> Iterator[tuple[str, dict[str, Spent]]]:
    """What a user pays for the reports of each line; where no line reads features, also for the one that is drawn."""
    grid = section_of(profile, NodeClassification)
    needed = lines(grid)
    read = feature_budgets(needed)
    for dataset, line in product(datasets, needed):
        features = line.eps_x if read else width_budget(grid)
        paid: dict[str, Spent] = {} if features == UNREAD else {"features": {"features": features}}
        yield dataset, paid | {"edges": spent_on_bits(line.eps_a, ends_of(line.mode))}
