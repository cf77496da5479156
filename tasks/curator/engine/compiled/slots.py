"""What differs between the models of a block: configuration, epoch, and the numbers that kernels read per slot."""

from __future__ import annotations

from typing import Any

import numpy as np

from tasks.curator.engine.compiled.masks import DropoutRanks
from tasks.curator.hyper_parameters import HyperParameters

BETAS = (0.9, 0.999)


class BatchSlots:
    """``count`` slots for models, each at an epoch of its own.

    Attributes:
        configurations: the configuration in each slot, None in an idle one.
        ages: int64, epochs trained.
        step: (3, count), see ``adam_kernels``.
        thresholds, dropout_scale: of dropout.
        rank_rows: workspace for the kernels.
    """

    def __init__(self, count: int, dtype: Any, ranks: DropoutRanks) -> None:
        self.count, self.ranks = count, ranks
        self.configurations: list[HyperParameters | None] = [None] * count
        self.ages = np.zeros(count, dtype=np.int64)
        self.step = np.zeros((3, count), dtype=dtype)
        self.thresholds = np.zeros(count, dtype=np.uint8)
        self.dropout_scale = np.ones(count, dtype=dtype)
        self.rank_rows = np.zeros(count, dtype=np.int64)

    def load(self, slot: int, configuration: HyperParameters) -> None:
        """Starts a configuration."""
        self.configurations[slot], self.ages[slot] = configuration, 0
        self.thresholds[slot] = self.ranks.threshold(configuration.dropout)
        self.dropout_scale[slot] = 1 / (1 - configuration.dropout)
        self.step[1, slot] = configuration.weight_decay

    def clear(self, slot: int) -> None:
        """Leaves a slot idle: its learning rate is 0, its arithmetic goes on."""
        self.configurations[slot], self.ages[slot], self.step[0, slot] = None, 0, 0

    def advance(self) -> None:
        """To the next epoch, with its step sizes."""
        with np.errstate(over="ignore"):  # an absurd rate diverges, and is found to
            for slot, configuration in enumerate(self.configurations):
                if configuration is not None:
                    self.ages[slot] += 1
                    age = int(self.ages[slot])
                    self.step[0, slot] = configuration.learning_rate / (1 - BETAS[0] ** age)
                    self.step[2, slot] = (1 - BETAS[1] ** age) ** -0.5

    def graph_sizes(self, step_size: float) -> np.ndarray:
        """Step size of the graph, lambda1 and lambda2 (3, count); a model that has trained no epoch does not move.

        A step longer than 1/(2 lambda1) would overshoot the distance term by itself and is cut to that.
        """
        sizes = np.zeros_like(self.step)
        for slot, configuration in enumerate(self.configurations):
            if configuration is not None and self.ages[slot] > 0:
                longest = 0.5 / configuration.lambda1 if configuration.lambda1 > 0 else step_size
                sizes[:, slot] = min(step_size, longest), configuration.lambda1, configuration.lambda2
        return sizes

    def draws(self) -> np.ndarray:
        """Which epoch's numbers the next step's dropout uses, drawn by now; after the last epoch there is no next."""
        draws = np.minimum(self.ages, len(self.ranks.ranks) - 1)
        self.ranks.reach(1 + int(draws.max()))
        return draws
