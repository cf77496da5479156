"""Runs trials in blocks on worker threads (compiled kernels hold no lock): a slot that is done takes the next trial.

A model's arithmetic does not depend on its slot, its neighbours or the time it starts, so the outcome is the same
whatever the number of workers.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import torch

from tasks.curator.engine.any_block import AnyBlock
from tasks.curator.engine.best_model import BestModel
from tasks.curator.engine.shared_tensors import SharedTensors
from tasks.curator.engine.trial import GroupKey, Trial
from tasks.curator.hyper_parameters import ValidationScore


@dataclass
class Schedule:
    """Groups with their waiting trials, worked on in order.

    Attributes:
        waiting: trials by group.
        make_shared: lays out a group's arrays when its first trial is taken.
        make_block: workspace for a number of models of a group.
        best models: by problem.
        epochs, patience: of every model.
        slots: models per block; halved when memory runs out.
        until: no trial starts after this ``time.monotonic()``; those that run are finished.
        finished: called with every finished trial, under the lock.
        notes: what the user should know of the run.
    """

    waiting: Mapping[GroupKey, deque[Trial]]
    make_shared: Callable[[GroupKey], SharedTensors]
    make_block: Callable[[SharedTensors, int], AnyBlock]
    best_models: Mapping[int, BestModel]
    epochs: int
    patience: int | None
    slots: int
    until: float | None = None
    finished: Callable[[Trial], None] = lambda trial: None
    notes: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _groups: dict[GroupKey, SharedTensors] = field(default_factory=dict)
    _making: threading.Lock = field(default_factory=threading.Lock)

    def run(self, workers: int) -> None:
        """Works until no trial waits; the first error of a worker is raised when all have stopped."""
        with ThreadPoolExecutor(workers) as pool:
            for future in [pool.submit(self._work) for _ in range(workers)]:
                future.result()

    def _work(self) -> None:
        for group_key in self.waiting:
            while self.waiting[group_key] and not self._late():
                block = self._block(group_key)
                if block is None:
                    continue
                self._train(group_key, block)
            with self._making:
                self._groups.pop(group_key, None)

    def _block(self, group_key: GroupKey) -> AnyBlock | None:
        """A new block, or None after a halving because there was no memory for it."""
        slots = self.slots
        try:
            with self._making:
                if group_key not in self._groups:
                    self._groups[group_key] = self.make_shared(group_key)
                shared = self._groups[group_key]
            return self.make_block(shared, slots)
        except (MemoryError, torch.OutOfMemoryError):
            if slots == 1:
                raise
            with self._lock:
                if self.slots == slots:
                    self.slots = slots // 2
                    self.notes.append(f"out of memory with blocks of {slots} models: going on with {self.slots}")
            return None

    def _train(self, group_key: GroupKey, block: AnyBlock) -> None:
        running: dict[int, Trial] = {}
        self._fill(group_key, block, running, range(block.slots))
        while running:
            losses, accuracies = block.step()
            done = []
            for slot, trial in running.items():
                trial.epochs += 1
                for evaluation in trial.evaluations:
                    if evaluation.open:
                        row = block.shared.evaluations.index(evaluation.l_y)
                        score = ValidationScore(float(accuracies[row, slot]), float(losses[row, slot]))
                        if evaluation.take(trial.epochs, score, self.patience):
                            best_model = self.best_models[group_key[0]]
                            best_model.offer(
                                score, evaluation.configuration, trial.epochs, partial(block.weights, slot)
                            )
                if trial.epochs == self.epochs or not any(evaluation.open for evaluation in trial.evaluations):
                    done.append(slot)
            for slot in done:
                with self._lock:
                    self.finished(running.pop(slot))
                block.clear(slot)
            self._fill(group_key, block, running, done)

    def _fill(self, group_key: GroupKey, block: AnyBlock, running: dict[int, Trial], slots: range | list[int]) -> None:
        for slot in slots:
            with self._lock:
                if not self.waiting[group_key] or self._late():
                    return
                running[slot] = self.waiting[group_key].popleft()
            block.load(slot, running[slot].configuration)

    def _late(self) -> bool:
        return self.until is not None and time.monotonic() >= self.until
