"""How a run of the engine is carried out; nothing here changes which model is best."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tasks.curator.calibration.joint import INNER_STEPS, STEP_SIZE
from tasks.errors import UserError
from tasks.models.architecture import HIDDEN, Backbone
from tasks.models.networks import Device
from tasks.models.propagation import Normalization

SLOTS = 4
MEMORY_MB = 4000


@dataclass(frozen=True)
class GraphSteps:
    """How the graph moves in the joint method: after each step on theta, ``inner_steps`` proximal steps.

    Raises:
        UserError: for a value out of range.
    """

    step_size: float = STEP_SIZE
    inner_steps: int = INNER_STEPS

    def __post_init__(self) -> None:
        if not 0 < self.step_size < float("inf") or self.inner_steps < 1:
            raise UserError(f"step_size {self.step_size}, inner_steps {self.inner_steps}: use positive numbers")


@dataclass(frozen=True)
class EngineSettings:
    """What all models of a run have in common.

    Attributes:
        backbone: ``gcn`` or ``sage``.
        epochs: at most this many steps of full-batch Adam per model; validation after each.
        patience: a model stops after this many epochs without a better validation score; None never stops it.
        hidden: width between the layers.
        normalization: of GCN's propagation.
        smooth_loss: whether the training loss, too, is that of the predictions after l_y steps of smoothing.
        joint: steps on the graph; None trains on the graph as it is.
        device: ``auto``, ``cpu`` or ``cuda``.
        precision: ``float32`` or ``float64``.
        workers: blocks trained at a time on the CPU; None takes one per core.
        memory_mb: for everything that the run allocates, in 10^6 bytes.
        slots: models per block on the CPU, a power of two. Four leave a Cora-sized block in the second-level cache.

    Raises:
        UserError: for a value out of range.
    """

    backbone: Backbone
    epochs: int = 500
    patience: int | None = None
    hidden: int = HIDDEN
    normalization: Normalization = "symmetric"
    smooth_loss: bool = False
    joint: GraphSteps | None = None
    device: Device = "auto"
    precision: str = "float32"
    workers: int | None = None
    memory_mb: int = MEMORY_MB
    slots: int = SLOTS

    def __post_init__(self) -> None:
        if self.epochs < 1 or (self.patience is not None and self.patience < 1):
            raise UserError(f"epochs {self.epochs}, patience {self.patience}: use at least 1")
        if self.precision not in ("float32", "float64"):
            raise UserError(f"precision {self.precision!r} is unknown; use float32 or float64")
        if self.workers is not None and self.workers < 1:
            raise UserError(f"workers {self.workers}: use at least 1")
        if self.memory_mb < 1:
            raise UserError(f"memory_mb {self.memory_mb}: use at least 1")
        if self.slots < 1 or self.slots & (self.slots - 1):
            raise UserError(f"slots {self.slots}: use 1, 2, 4, 8 or another power of two")

    def resolved_workers(self) -> int:
        """Blocks at a time: as asked for, or one per core that this process may use."""
        if self.workers is not None:
            return self.workers
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
