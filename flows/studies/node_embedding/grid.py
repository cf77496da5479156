"""The lines of the node embedding table: which ways to get walks are wanted on a data set, and how often each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product

from flows.context.coverage import ExpectedLine
from tasks.evaluation.node_embedding.embedding_lines import SCORINGS
from tasks.parameters.embedding import EmbeddingGrid, NodeEmbedding
from tasks.parameters.profiles import Profile, section_of
from tasks.reports.edge_mode import EdgeMode, ends_of
from tasks.reports.ledgers.units import (
    LISTS_IN_CLEAR,
    Spent,
    in_clear,
    spent_on_bits,
    spent_on_counts,
    spent_on_degree,
)

TREES = {"walk": "private", "release-once": "private", "walk-random-tree": "random", "walk-paper-tree": "paper"}
"""What a mode's tree is built from; the other modes need none."""
LISTS_MODE: EdgeMode = "directed-no-diagonal"
"""Randomised response like ``release-once``: each device answers for its own list, so both ends tell a relation."""


@dataclass(frozen=True)
class Line:
    """One way to get walks as the parameters give it; what a mode does not read is empty."""

    mode: str
    walks: int
    eps_encoder: str = ""
    p: str = ""
    bins: int | str = ""
    pad: bool = False

    @property
    def tree(self) -> str:
        """What its tree is built from; empty without one."""
        return TREES.get(self.mode, "")


@dataclass(frozen=True)
class Wanted:
    """A line on a data set in one repeat."""

    dataset: str
    line: Line
    repeat: int

    @property
    def tree(self) -> tuple[str, str, int, int | str]:
        """Data set, what the tree is built from, repeat and bins: what tells trees apart."""
        return self.dataset, self.line.tree, self.repeat, self.line.bins


@dataclass(frozen=True)
class Cell:
    """A line of the table but for the training ratio and the protocol of scoring; ``k`` is the number of bins."""

    dataset: str
    mode: str
    eps_encoder: str = ""
    p: str = ""
    k: str = ""
    walks: str = ""
    pad: str = ""

    @classmethod
    def of(cls, wanted: Wanted, k: str = "", *, walks: bool = True) -> Cell:
        """The cell of a line, or of the lists that it walks over."""
        line = wanted.line
        pad = "true" if line.pad else ""
        return cls(wanted.dataset, line.mode, line.eps_encoder, line.p, k, str(line.walks) if walks else "", pad)

    @property
    def method(self) -> str:
        """The row's method: the protocol that the mode is a variant of."""
        return self.mode if self.mode in ("deepwalk", "randomized-response") else "fedwalk"

    @property
    def settings(self) -> dict[str, str]:
        """The row's settings: those that the mode has."""
        return {name: value for name, value in asdict(self).items() if value and name != "dataset"}

    def __str__(self) -> str:
        return " ".join([self.dataset, self.mode, *(f"{n}={v}" for n, v in self.settings.items() if n != "mode")])


def wanted_lines(study: NodeEmbedding, datasets: list[str], repeats: int) -> list[Wanted]:
    """The lines of the study's grid and of its parts on every data set, each once, with the most repeats named."""
    found: dict[tuple[str, Line], int] = {}
    for dataset in datasets:
        for grid, times in study.grids(dataset, repeats):
            for line in lines(grid):
                found[dataset, line] = max(times, found.get((dataset, line), 0))
    return [Wanted(dataset, line, repeat) for (dataset, line), times in found.items() for repeat in range(times)]


def lines(grid: EmbeddingGrid) -> Iterator[Line]:
    """The lines of one grid; some come more than once."""
    for mode, eps, p, bins, walks in product(grid.modes, grid.eps_encoder, grid.p, grid.bins, grid.walks):
        tree = TREES.get(mode)
        yield Line(
            mode,
            walks,
            "" if mode == "deepwalk" else eps,
            f"{p:g}" if mode.startswith("walk") else "",
            bins if tree in ("private", "paper") else "",
            grid.pad and mode == "release-once",
        )


def expected(profile: Profile, datasets: Sequence[str], found: set[ExpectedLine]) -> set[ExpectedLine]:
    """The lines that the table must have.

    The number of bins that ``auto`` stands for follows from the data: it is the one that fits the found lines best.
    """
    wanted: set[ExpectedLine] = set()
    for dataset in datasets:
        own = {line for line in found if line.dataset == dataset}
        numbers = sorted({dict(line.settings).get("k", "auto") for line in own})
        possible = [_expected(profile, dataset, number) for number in numbers]
        wanted |= min(possible, key=lambda lines: len(lines ^ own))
    return wanted


def _expected(profile: Profile, dataset: str, automatic: str) -> set[ExpectedLine]:
    grid = section_of(profile, NodeEmbedding)
    found = set()
    wanted = wanted_lines(grid, [dataset], profile.repeats)
    for want, ratio, scoring in product(wanted, grid.train_ratios, SCORINGS):
        bins = want.line.bins
        cell = Cell.of(want, automatic if bins == "auto" else str(bins))
        settings = cell.settings | {"train_ratio": f"{ratio:g}", "scoring": scoring}
        found.add(ExpectedLine.of(dataset, cell.method, settings, want.repeat))
    return found


def costs(profile: Profile, datasets: Sequence[str]) -> Iterator[tuple[str, dict[str, Spent]]]:
    """What a user pays for each line, but for encoded lists, whose cost depends on the tree."""
    grid = section_of(profile, NodeEmbedding)
    for wanted in wanted_lines(grid, list(datasets), profile.repeats):
        yield f"{wanted.dataset} {wanted.line.mode}", line_costs(grid, wanted.line)


def line_costs(grid: NodeEmbedding, line: Line) -> dict[str, Spent]:
    """What a line costs beside encoded lists."""
    if line.mode == "deepwalk":
        return {"the graph, in clear": LISTS_IN_CLEAR}
    if line.mode == "randomized-response":
        return {"edges": spent_on_bits(line.eps_encoder, ends_of(LISTS_MODE))}
    paid: dict[str, Spent] = {"walks": LISTS_IN_CLEAR} if line.mode.startswith("walk") else {}
    if line.mode == "release-once" and not line.pad:
        paid |= {"lengths of lists, in clear": in_clear("edge", "relation")}
    if line.tree == "private":
        paid |= {"degree": spent_on_degree(grid.eps_degree), "counts": spent_on_counts(grid.eps_counts, 1)}
    return paid
