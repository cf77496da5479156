"""What differs between the models of a block: point, epoch, and the numbers that kernels read per slot."""

from __future__ import annotations

from typing import Any

import numpy as np

from tasks.curator.engine.compiled.masks import DropoutRanks
from tasks.curator.hyper_parameters import HyperParameters

BETAS = (0.9, 0.999)


class BatchSlots:
    """``count`` slots for models, each at an epoch of its own.

    Attributes:
        points: the point in each slot, None in an idle one.
        ages: int64, epochs trained.
        step: (3, count), see ``adam_kernels``.
        thresholds, dropout_scale: of dropout.
        rank_rows: workspace for the kernels.
    """

    def __init__(self, count: int, dtype: Any, ranks: DropoutRanks) -> None:
        self.count, self.ranks = count, ranks
        self.points: list[HyperParameters | None] = [None] * count
        self.ages = np.zeros(count, dtype=np.int64)
        self.step = np.zeros((3, count), dtype=dtype)
        self.thresholds = np.zeros(count, dtype=np.uint8)
        self.dropout_scale = np.ones(count, dtype=dtype)
        self.rank_rows = np.zeros(count, dtype=np.int64)

    def load(self, slot: int, point: HyperParameters) -> None:
        """Starts a point."""
        self.points[slot], self.ages[slot] = point, 0
        self.thresholds[slot] = self.ranks.threshold(point.dropout)
        self.dropout_scale[slot] = 1 / (1 - point.dropout)
        self.step[1, slot] = point.weight_decay

    def clear(self, slot: int) -> None:
        """Leaves a slot idle: its learning rate is 0, its arithmetic goes on."""
        self.points[slot], self.ages[slot], self.step[0, slot] = None, 0, 0

    def advance(self) -> None:
        """To the next epoch, with its step sizes."""
        with np.errstate(over="ignore"):  # an absurd rate diverges, and is found to
            for slot, point in enumerate(self.points):
                if point is not None:
                    self.ages[slot] += 1
                    age = int(self.ages[slot])
                    self.step[0, slot] = point.learning_rate / (1 - BETAS[0] ** age)
                    self.step[2, slot] = (1 - BETAS[1] ** age) ** -0.5

    def graph_sizes(self, step_size: float) -> np.ndarray:
        """Step size of the graph, lambda1 and lambda2 (3, count); a model that has trained no epoch does not move.

        A step longer than 1/(2 lambda1) would overshoot the distance term by itself and is cut to that.
        """
        sizes = np.zeros_like(self.step)
        for slot, point in enumerate(self.points):
            if point is not None and self.ages[slot] > 0:
                longest = 0.5 / point.lambda1 if point.lambda1 > 0 else step_size
                sizes[:, slot] = min(step_size, longest), point.lambda1, point.lambda2
        return sizes

    def draws(self) -> np.ndarray:
        """Which epoch's numbers the next step's dropout uses, drawn by now; after the last epoch there is no next."""
        draws = np.minimum(self.ages, len(self.ranks.ranks) - 1)
        self.ranks.reach(1 + int(draws.max()))
        return draws
