"""What a slot trains: one optimisation, for one configuration or, where l_y is no part of it, for several."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tasks.curator.engine.problem import Problem
from tasks.curator.hyper_parameters import HyperParameters, ValidationScore

GroupKey = tuple[int, int, tuple[int, ...], int]
"""Problem, l_x, evaluations and l_y of the loss: models with equal ones form a group."""


@dataclass
class Evaluation:
    """The best epoch so far of one configuration: its index in its list, l_y, and ``fit``'s outcome."""

    configuration: int
    l_y: int
    epoch: int = 0
    score: ValidationScore = field(default_factory=lambda: ValidationScore(0.0, math.inf))
    open: bool = True

    def take(self, epoch: int, score: ValidationScore, patience: int | None) -> bool:
        """Whether this epoch is the best so far; closes the evaluation when patience ends or the loss is not finite."""
        if not math.isfinite(score.loss):
            self.open = False
        elif score.beats(self.score):
            self.epoch, self.score = epoch, score
            return True
        elif patience is not None and epoch - self.epoch >= patience:
            self.open = False
        return False


@dataclass
class Trial:
    """One optimisation: its group, hyper-parameters and the evaluations that share it."""

    group_key: GroupKey
    configuration: HyperParameters
    evaluations: list[Evaluation]
    epochs: int = 0


def trials(
    problem_index: int, problem: Problem, configurations: Sequence[HyperParameters], *, smooth_loss: bool
) -> dict[GroupKey, deque[Trial]]:
    """Configurations as trials, by group, in the order of their first configurations.

    Configurations that differ in l_y only are one optimisation, evaluated at each l_y, unless training sees l_y:
    through ``smooth_loss`` or through targets that depend on it.
    """
    # group (l_x, l_y that training sees) -> optimisation -> the indices of its configurations.
    found: dict[tuple[int, int], dict[HyperParameters, list[int]]] = {}
    for index, configuration in enumerate(configurations):
        seen = configuration.l_y if smooth_loss or configuration.l_y in problem.targets else 0
        found.setdefault((configuration.l_x, seen), {}).setdefault(replace(configuration, l_y=seen), []).append(index)
    groups: dict[GroupKey, deque[Trial]] = {}
    for (l_x, seen), members in found.items():
        evaluations = tuple(sorted({configurations[index].l_y for indices in members.values() for index in indices}))
        group_key = (problem_index, l_x, evaluations, seen if smooth_loss else 0)
        groups[group_key] = deque(
            Trial(group_key, configuration, [Evaluation(index, configurations[index].l_y) for index in indices])
            for configuration, indices in members.items()
        )
    return groups
