"""Runs jobs in blocks on worker threads (compiled kernels hold no lock): a lane that is done takes the next job.

A model's arithmetic does not depend on its lane, its neighbours or the time it starts, so the outcome is the same
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
from tasks.curator.engine.best_model import Champion
from tasks.curator.engine.family import Family
from tasks.curator.engine.job import Job, Kin
from tasks.curator.hyper_parameters import ValidationScore


@dataclass
class Schedule:
    """Families with their waiting jobs, worked on in order.

    Attributes:
        waiting: jobs by family.
        make_family: lays out a family's arrays when its first job is taken.
        make_block: room for a number of models of a family.
        champions: by problem.
        epochs, patience: of every model.
        lanes: models per block; halved when memory runs out.
        until: no job starts after this ``time.monotonic()``; those that run are finished.
        finished: called with every finished job, under the lock.
        notes: what the user should know of the run.
    """

    waiting: Mapping[Kin, deque[Job]]
    make_family: Callable[[Kin], Family]
    make_block: Callable[[Family, int], AnyBlock]
    champions: Mapping[int, Champion]
    epochs: int
    patience: int | None
    lanes: int
    until: float | None = None
    finished: Callable[[Job], None] = lambda job: None
    notes: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _families: dict[Kin, Family] = field(default_factory=dict)
    _making: threading.Lock = field(default_factory=threading.Lock)

    def run(self, workers: int) -> None:
        """Works until no job waits; the first error of a worker is raised when all have stopped."""
        with ThreadPoolExecutor(workers) as pool:
            for future in [pool.submit(self._work) for _ in range(workers)]:
                future.result()

    def _work(self) -> None:
        for kin in self.waiting:
            while self.waiting[kin] and not self._late():
                block = self._block(kin)
                if block is None:
                    continue
                self._train(kin, block)
            with self._making:
                self._families.pop(kin, None)

    def _block(self, kin: Kin) -> AnyBlock | None:
        """A new block, or None after a halving because there was no memory for it."""
        lanes = self.lanes
        try:
            with self._making:
                if kin not in self._families:
                    self._families[kin] = self.make_family(kin)
                family = self._families[kin]
            return self.make_block(family, lanes)
        except (MemoryError, torch.OutOfMemoryError):
            if lanes == 1:
                raise
            with self._lock:
                if self.lanes == lanes:
                    self.lanes = lanes // 2
                    self.notes.append(f"out of memory with blocks of {lanes} models: going on with {self.lanes}")
            return None

    def _train(self, kin: Kin, block: AnyBlock) -> None:
        running: dict[int, Job] = {}
        self._fill(kin, block, running, range(block.lanes))
        while running:
            losses, accuracies = block.step()
            done = []
            for lane, job in running.items():
                job.epochs += 1
                for reading in job.readings:
                    if reading.open:
                        place = block.family.readings.index(reading.l_y)
                        score = ValidationScore(float(accuracies[place, lane]), float(losses[place, lane]))
                        if reading.take(job.epochs, score, self.patience):
                            champion = self.champions[kin[0]]
                            champion.offer(score, reading.point, job.epochs, partial(block.weights, lane))
                if job.epochs == self.epochs or not any(reading.open for reading in job.readings):
                    done.append(lane)
            for lane in done:
                with self._lock:
                    self.finished(running.pop(lane))
                block.clear(lane)
            self._fill(kin, block, running, done)

    def _fill(self, kin: Kin, block: AnyBlock, running: dict[int, Job], lanes: range | list[int]) -> None:
        for lane in lanes:
            with self._lock:
                if not self.waiting[kin] or self._late():
                    return
                running[lane] = self.waiting[kin].popleft()
            block.load(lane, running[lane].point)

    def _late(self) -> bool:
        return self.until is not None and time.monotonic() >= self.until
