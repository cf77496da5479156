"""What a search will take, known before it starts: from the sizes, and from a few epochs of the real work."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.curator.engine.batch_planner import BatchPlanner
from tasks.curator.engine.footprint import MEGABYTE
from tasks.curator.engine.problem import Problem
from tasks.curator.engine.settings import EngineSettings
from tasks.curator.hyper_parameters import HyperParameters
from tasks.curator.search.strategy import Strategy

WARM_UP, PROBE = 1, 3


@dataclass(frozen=True)
class Forecast:
    """An upper bound: models may stop early.

    Attributes:
        configurations: per repeat.
        model_epochs: of all repeats and rounds; configurations that differ in l_y only may share theirs.
        minutes: of wall clock on this machine, as busy as it is now.
        memory_mb: what the engine may allocate at a time.
    """

    configurations: int
    model_epochs: int
    minutes: float
    memory_mb: float


def forecast(
    problems: Sequence[Problem], configurations: Sequence[HyperParameters], settings: EngineSettings, strategy: Strategy
) -> Forecast:
    """Measures one block of every group of the first problem; the other problems are taken to be like it."""
    planner = BatchPlanner(problems[:1], [configurations], settings)
    slots, workers, _ = planner.plan()
    seconds = trials = 0.0
    for group_key, members in planner.waiting.items():
        block = planner.block(planner.shared(group_key), slots)
        for slot in range(slots):
            block.load(slot, members[slot % len(members)].configuration)
        started = time.perf_counter()
        for step in range(WARM_UP + PROBE):
            if step == WARM_UP:
                started = time.perf_counter()
            block.step()
        seconds += len(members) * (time.perf_counter() - started) / PROBE / slots
        trials += len(members)
    # Configurations of later rounds share less, so each counts for itself there; the first round is the largest.
    rounds = strategy.schedule(len(configurations), settings.epochs)
    model_epochs = rounds[0][1] * trials + sum(count * epochs for count, epochs in rounds[1:])
    total = int(model_epochs) * len(problems)
    return Forecast(
        configurations=len(configurations),
        model_epochs=total,
        minutes=total * seconds / trials / workers / 60,
        memory_mb=planner.need(slots, workers) / MEGABYTE,
    )
