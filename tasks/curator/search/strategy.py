"""How much of a grid is trained, and for how long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.curator.hyper_parameters import HyperParameters
from tasks.errors import UserError
from tasks.seeds import generator

Kind = Literal["full", "random", "halving"]
KINDS: tuple[Kind, ...] = ("full", "random", "halving")


@dataclass(frozen=True)
class Strategy:
    """Which configurations of a grid are trained.

    Attributes:
        kind: ``full``: all configurations to the end. ``random``: a random subset. ``halving``: all (or a random one)
            for a few epochs, the best of them longer, and so on (successive halving, Jamieson & Talwalkar 2016).
        points: how many configurations the random subset has; None takes all.
        minutes: of wall clock. Fewer configurations are drawn when the forecast exceeds it, and no model starts after
            it. The table then depends on the machine; a number of configurations gives the same bytes everywhere.
        factor: of halving: one in so many configurations goes on, with so many times the epochs.
        rungs: of halving: lengths tried, the last being all epochs.

    Raises:
        UserError: for a value out of range.
    """

    kind: Kind = "full"
    points: int | None = None
    minutes: float | None = None
    factor: int = 3
    rungs: int = 4

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UserError(f"search strategy {self.kind!r} is unknown; use one of {', '.join(KINDS)}")
        if self.kind == "full" and self.points is not None:
            raise UserError("search strategy full trains all points; use random or halving for a number of points")
        if self.kind == "random" and self.points is None and self.minutes is None:
            raise UserError("search strategy random needs a number of points or minutes")
        if self.points is not None and self.points < 1:
            raise UserError(f"search points {self.points}: use at least 1")
        if self.minutes is not None and not self.minutes > 0:
            raise UserError(f"search minutes {self.minutes}: use a positive number")
        if self.factor < 2 or self.rungs < 1:
            raise UserError(f"halving factor {self.factor}, rungs {self.rungs}: use at least 2 and 1")

    def schedule(self, configurations: int, epochs: int) -> tuple[tuple[int, int], ...]:
        """(configurations, epochs) of every round, the last one at full length."""
        if self.kind != "halving":
            return ((configurations, epochs),)
        rounds = []
        for rung in range(self.rungs):
            share = self.factor ** (self.rungs - 1 - rung)
            rounds.append((math.ceil(configurations / self.factor**rung), max(1, math.ceil(epochs / share))))
        return tuple(rounds)


def random_subset(grid: Sequence[HyperParameters], count: int, seed: int) -> tuple[HyperParameters, ...]:
    """``count`` configurations of the grid, in its order, without replacement; a larger count contains a smaller."""
    chosen = generator(seed).permutation(len(grid))[:count]
    return tuple(grid[index] for index in sorted(chosen))
