"""What the schedule needs of a block, and which form the device gets."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from tasks.curator.engine.compiled.block import Block
from tasks.curator.engine.plain_torch.block import TorchBlock
from tasks.curator.engine.settings import GraphSteps
from tasks.curator.engine.shared_tensors import SharedTensors
from tasks.curator.hyper_parameters import HyperParameters


class AnyBlock(Protocol):
    """Workspace for ``slots`` models of a group; see ``Block``."""

    shared: SharedTensors
    slots: int

    def load(self, slot: int, configuration: HyperParameters, weights: dict[str, NDArray[Any]] | None = None) -> None:
        """Puts a model into a slot."""

    def clear(self, slot: int) -> None:
        """Leaves a slot idle."""

    def step(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One epoch; validation losses and accuracies, (evaluations, slots) each."""

    def predict(self, slot: int, l_y: int) -> NDArray[np.float64]:
        """Log-probabilities (N, classes)."""

    def weights(self, slot: int) -> dict[str, NDArray[Any]]:
        """Copies of a slot's weights by name."""


def make_block(shared: SharedTensors, slots: int, graph_steps: GraphSteps | None, device: torch.device) -> AnyBlock:
    """The compiled form on the CPU, the torch form elsewhere."""
    if device.type == "cpu":
        return Block(shared, slots, graph_steps)
    return TorchBlock(shared, slots, graph_steps, device)
