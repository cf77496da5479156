"""What the schedule needs of a block, and which form the device gets."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from tasks.curator.engine.compiled.block import Block
from tasks.curator.engine.family import Family
from tasks.curator.engine.plain_torch.block import TorchBlock
from tasks.curator.engine.settings import GraphSteps
from tasks.curator.hyper_parameters import HyperParameters


class AnyBlock(Protocol):
    """Room for ``lanes`` models of a family; see ``Block``."""

    family: Family
    lanes: int

    def load(self, lane: int, point: HyperParameters, weights: dict[str, NDArray[Any]] | None = None) -> None:
        """Puts a model into a lane."""

    def clear(self, lane: int) -> None:
        """Leaves a lane idle."""

    def step(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One epoch; validation losses and accuracies, (readings, lanes) each."""

    def predict(self, lane: int, l_y: int) -> NDArray[np.float64]:
        """Log-probabilities (N, classes)."""

    def weights(self, lane: int) -> dict[str, NDArray[Any]]:
        """Copies of a lane's weights by name."""


def make_block(family: Family, lanes: int, graph_steps: GraphSteps | None, device: torch.device) -> AnyBlock:
    """The compiled form on the CPU, the torch form elsewhere."""
    if device.type == "cpu":
        return Block(family, lanes, graph_steps)
    return TorchBlock(family, lanes, graph_steps, device)
