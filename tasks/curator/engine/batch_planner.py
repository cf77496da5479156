"""The problems of a run laid out as groups of trials, and the outcome of each problem."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import astuple

import numpy as np
import pandas as pd
import torch

from tasks.curator.engine.any_block import AnyBlock, make_block
from tasks.curator.engine.best_model import BestModel
from tasks.curator.engine.compiled.masks import DropoutRanks
from tasks.curator.engine.footprint import MEGABYTE, footprint
from tasks.curator.engine.problem import Problem
from tasks.curator.engine.settings import EngineSettings
from tasks.curator.engine.shared_tensors import SharedTensors, shared
from tasks.curator.engine.trial import GroupKey, Trial, trials
from tasks.curator.hyper_parameters import HyperParameters
from tasks.curator.trained import SEARCH_COLUMNS, Trained
from tasks.errors import UserError
from tasks.models.architecture import Architecture, xavier_weights
from tasks.models.networks import resolve
from tasks.seeds import generator


class BatchPlanner:
    """Trials that wait, by group, and all that is needed to start them.

    Raises:
        UserError: for an empty grid, or smoothing without an operator.
    """

    def __init__(
        self, problems: Sequence[Problem], configurations: Sequence[Sequence[HyperParameters]], settings: EngineSettings
    ) -> None:
        self._problems, self._configurations, self._settings = problems, configurations, settings
        self._device, _ = resolve(settings.device, "torch")
        self._dtype: type = np.float32 if settings.precision == "float32" else np.float64
        self._seeds = [
            [int(value) for value in generator(problem.seed).integers(2**63, size=2)] for problem in problems
        ]
        # Dropout is the largest shared array: it lives as long as a group of its problem does.
        self._ranks: weakref.WeakValueDictionary[int, DropoutRanks] = weakref.WeakValueDictionary()
        self.waiting: dict[GroupKey, deque[Trial]] = {}
        for index, (problem, grid) in enumerate(zip(problems, configurations, strict=True)):
            if not grid:
                raise UserError("the grid is empty; give at least one hyper-parameter configuration")
            if problem.smoothing is None and any(configuration.l_x or configuration.l_y for configuration in grid):
                raise UserError("l_x and l_y need the problem's smoothing operator; give one")
            if settings.joint is None and any(configuration.lambda1 or configuration.lambda2 for configuration in grid):
                raise UserError("lambda1 and lambda2 need the joint method; ask for it or leave them out")
            self.waiting |= trials(index, problem, grid, smooth_loss=settings.smooth_loss)

    def shared(self, group_key: GroupKey) -> SharedTensors:
        """The arrays of one group."""
        index, l_x, evaluations, loss_smoothing = group_key
        problem, shape = self._problems[index], self._architecture(index)
        weight_seed, dropout_seed = self._seeds[index]
        start = xavier_weights(shape, torch.Generator().manual_seed(weight_seed))
        ranks = self._ranks.get(index)
        if ranks is None:
            rates = [configuration.dropout for configuration in self._configurations[index]]
            ranks = DropoutRanks(dropout_seed, rates, self._settings.epochs, problem.features.shape[0], shape.hidden)
            self._ranks[index] = ranks
        return shared(
            problem,
            shape,
            self._settings.normalization,
            l_x=l_x,
            evaluations=evaluations,
            loss_smoothing=loss_smoothing,
            start={name: value.numpy() for name, value in start.items()},
            ranks=ranks,
            dtype=self._dtype,
            joint=self._settings.joint is not None,
        )

    def block(self, shared: SharedTensors, slots: int) -> AnyBlock:
        """Workspace for ``slots`` models on the device."""
        return make_block(shared, slots, self._settings.joint, self._device)

    def need(self, slots: int, workers: int) -> int:
        """Upper estimate of the bytes that ``workers`` blocks of ``slots`` models take at a time."""
        settings = self._settings
        return max(
            footprint(
                self._problems[index],
                self._architecture(index),
                epochs=settings.epochs,
                l_x=l_x,
                l_y=evaluations[-1],
                smooth_loss=loss_smoothing > 0,
                joint=settings.joint is not None,
                itemsize=np.dtype(self._dtype).itemsize,
            ).run(slots, workers)
            for index, l_x, evaluations, loss_smoothing in self.waiting
        )

    def plan(self) -> tuple[int, int, list[str]]:
        """Slots and workers that fit the memory, fewer workers first, and what to say about it.

        Raises:
            UserError: when one model alone does not fit.
        """
        limit = self._settings.memory_mb
        slots = self._settings.slots
        workers = min(self._settings.resolved_workers(), sum(map(len, self.waiting.values())))
        if self._device.type != "cpu":
            # One large batch: a GPU is one worker, and the more models in it the better.
            largest = max(map(len, self.waiting.values()))
            slots, workers = max(slots, 1 << (largest - 1).bit_length()), 1
        notes: list[str] = []
        while (needed := self.need(slots, workers) / MEGABYTE) > limit:
            if workers > 1:
                workers -= 1
            elif slots > 1:
                slots //= 2
                notes.append(f"blocks of {2 * slots} models need more than {limit} MB: halved to {slots}")
            else:
                raise UserError(f"one model needs {needed:.0f} MB but memory_mb is {limit}; raise memory_mb")
        return slots, workers, notes

    def outcome(self, best_model: BestModel, finished: Sequence[Trial], slots: int) -> Trained:
        """The chosen model's predictions and the table of one problem, from its best model and trials.

        Raises:
            UserError: when no model had a finite loss.
        """
        if not finished:
            raise UserError("no configuration was trained before the time was over; allow more minutes")
        if best_model.score is None:
            raise UserError("training diverged in its first epoch at every configuration; lower the learning rates")
        answered = {
            evaluation.configuration: (trial, evaluation) for trial in finished for evaluation in trial.evaluations
        }
        order = sorted(answered)
        trial, chosen = answered[best_model.configuration]
        grid = self._configurations[trial.group_key[0]]
        rows = [
            (*astuple(grid[index]), evaluation.epoch, *astuple(evaluation.score), trial.epochs)
            for index in order
            for trial, evaluation in [answered[index]]
        ]
        block = self.block(self.shared(trial.group_key), slots)
        block.load(0, trial.configuration, best_model.weights)
        return Trained(
            backbone=self._settings.backbone,
            log_probabilities=block.predict(0, chosen.l_y).astype(np.float32),
            weights={name: value.astype(np.float32) for name, value in best_model.weights.items()},
            search=pd.DataFrame(rows, columns=[*SEARCH_COLUMNS, "epochs"]),
            chosen=order.index(best_model.configuration),
        )

    def _architecture(self, index: int) -> Architecture:
        problem = self._problems[index]
        return Architecture(
            self._settings.backbone, problem.features.shape[1], problem.labels.classes, self._settings.hidden
        )
