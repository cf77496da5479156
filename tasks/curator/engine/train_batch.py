"""Many configurations and repeats of one (data set, eps_x, eps_a) trained together: the engine's entry."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from tasks.curator.engine.batch_planner import BatchPlanner
from tasks.curator.engine.best_model import BestModel
from tasks.curator.engine.problem import Problem
from tasks.curator.engine.schedule import Schedule
from tasks.curator.engine.settings import EngineSettings
from tasks.curator.engine.trial import Trial
from tasks.curator.hyper_parameters import HyperParameters
from tasks.curator.trained import Trained


@dataclass(frozen=True)
class Run:
    """What a run gave and what it took: one ``Trained`` per problem; ``notes`` are lines for the log."""

    trained: tuple[Trained, ...]
    model_epochs: int
    seconds: float
    notes: tuple[str, ...]


def train_batch(
    problems: Sequence[Problem],
    configurations: Sequence[Sequence[HyperParameters]],
    settings: EngineSettings,
    *,
    until: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Trains every configuration of every problem; per problem the best by validation accuracy is returned.

    Ties go to the lower validation loss, then to the earlier one; the epoch is chosen likewise. A model is the one that
    ``training.train`` would give for the same seed, up to rounding. The table of a ``Trained`` has one row per
    configuration in the given order, with ``epochs`` (those trained) as an extra column.

    Args:
        problems: one per repeat; blocks are formed within a problem.
        configurations: the configurations of each problem.
        settings: what all models have in common.
        until: a ``time.monotonic()`` after which no model starts; configurations not started are missing in the table.
        progress: called with the model-epochs of every model that is done.

    Raises:
        UserError: for an empty grid, a problem without a finite model, or too little memory for one model.
    """
    started = time.monotonic()
    planner = BatchPlanner(problems, configurations, settings)
    best_models = {index: BestModel() for index in range(len(problems))}
    finished: list[Trial] = []

    def finish(trial: Trial) -> None:
        finished.append(trial)
        if progress is not None:
            progress(trial.epochs)

    torch.set_num_threads(1)  # one block per core
    slots, workers, notes = planner.plan()
    schedule = Schedule(
        waiting=planner.waiting,
        make_shared=planner.shared,
        make_block=planner.block,
        best_models=best_models,
        epochs=settings.epochs,
        patience=settings.patience,
        slots=slots,
        until=until,
        finished=finish,
        notes=notes,
    )
    schedule.run(workers)
    trained = tuple(
        planner.outcome(best_model, [trial for trial in finished if trial.group_key[0] == index], schedule.slots)
        for index, best_model in best_models.items()
    )
    return Run(trained, sum(trial.epochs for trial in finished), time.monotonic() - started, tuple(schedule.notes))
