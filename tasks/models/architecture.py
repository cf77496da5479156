"""The two-layer networks of the node classification study: names, shapes and first values of their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from tasks.errors import UserError

Backbone = Literal["gcn", "sage"]
BACKBONES: tuple[Backbone, ...] = ("gcn", "sage")
HIDDEN = 16


@dataclass(frozen=True)
class Architecture:
    """Two message-passing layers, ``dimensions`` -> ``hidden`` -> ``classes``.

    Raises:
        UserError: for a backbone that is not registered.
    """

    backbone: Backbone
    dimensions: int
    classes: int
    hidden: int = HIDDEN

    def __post_init__(self) -> None:
        if self.backbone not in BACKBONES:
            raise UserError(f"backbone {self.backbone!r} is unknown; use one of {', '.join(BACKBONES)}")

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name -> shape of every weight, matrices as (inputs, outputs), in the order they are drawn."""
        matrices = ("weight",) if self.backbone == "gcn" else ("root", "neighbour")
        sizes = {"first": (self.dimensions, self.hidden), "second": (self.hidden, self.classes)}
        shapes: dict[str, tuple[int, ...]] = {}
        for layer, size in sizes.items():
            shapes |= {f"{layer}_{matrix}": size for matrix in matrices}
            shapes[f"{layer}_bias"] = size[1:]
        return shapes


def xavier_weights(architecture: Architecture, generator: torch.Generator) -> dict[str, Tensor]:
    """Xavier (Glorot) uniform matrices and zero biases, float32 on the CPU.

    Every form and device starts from these same values: they are drawn once here and copied.
    """
    weights: dict[str, Tensor] = {}
    for name, shape in architecture.weight_shapes().items():
        weights[name] = torch.zeros(shape)
        if len(shape) == 2:
            torch.nn.init.xavier_uniform_(weights[name], generator=generator)
    return weights
