"""Smoothing around one network in torch: the reference that batched training is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from tasks.models.affine_input import AffineInput
from tasks.models.fixed_sparse import FixedSparse
from tasks.models.networks import Network


@dataclass(frozen=True)
class SmoothedInput(AffineInput):
    """Features S^steps x of an affine x, read through their projection: S^steps (x W), never an N x d matrix."""

    operator: FixedSparse
    steps: int

    def project(self, weight: Tensor) -> Tensor:
        """(S^steps x) @ weight, (N, k) for weight (d, k)."""
        projected = super().project(weight)
        for _ in range(self.steps):
            projected = self.operator @ projected
        return projected


class SmoothedNetwork:
    """A network whose predicted probabilities are smoothed, in the loss, in validation and in the outcome alike."""

    def __init__(self, network: Network, operator: FixedSparse, steps: int) -> None:
        self._network, self._operator, self._steps = network, operator, steps

    def hidden(self, features: AffineInput) -> Tensor:
        """As in the network: (N, hidden)."""
        return self._network.hidden(features)

    def logits(self, hidden: Tensor) -> Tensor:
        """Logarithms of the smoothed probabilities, (N, classes), each row normalised."""
        return smoothed_log_probabilities(self._network.logits(hidden), self._operator, self._steps)

    def weights(self) -> dict[str, Tensor]:
        """The network's live weights."""
        return self._network.weights()

    def load(self, weights: dict[str, Tensor]) -> None:
        """Copies weights into the network."""
        self._network.load(weights)

    def parameters(self) -> Iterator[nn.Parameter]:
        """What the optimiser updates."""
        return self._network.parameters()


def smoothed_log_probabilities(logits: Tensor, operator: FixedSparse, steps: int) -> Tensor:
    """log of S^steps softmax(logits) (N, classes), every row divided by its sum before the logarithm.

    S keeps signs but not row sums, so that unnormalised rows would add a constant to the loss of each node.
    """
    if steps == 0:
        return functional.log_softmax(logits, dim=1)
    probabilities = torch.softmax(logits, dim=1)
    for _ in range(steps):
        probabilities = operator @ probabilities
    probabilities = probabilities / probabilities.sum(dim=1, keepdim=True)
    return probabilities.clamp_min(torch.finfo(logits.dtype).tiny).log()
