"""The networks of the graph study: names, shapes and first values of their weights, and their form as one vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tasks.errors import UserError

GraphBackbone = Literal["gcn", "gin"]
GRAPH_BACKBONES: tuple[GraphBackbone, ...] = get_args(GraphBackbone)
Level = Literal["graph", "node"]


@dataclass(frozen=True)
class GraphArchitecture:
    """A network over many small graphs (Jin & Chen 2022, section 5).

    * ``gcn``: two GCN layers of width 16 (Kipf & Welling 2017), ReLU between them, mean pooling, a linear layer.
    * ``gin``: five GIN layers of width 64 (Xu et al. 2019, epsilon 0), each a perceptron linear - batch norm - ReLU -
      linear and a ReLU, sum pooling, linear - ReLU - dropout 0.5 - linear.

    ``level`` ``"node"`` leaves the pooling out: one prediction per node, for the ego graphs.
    The embedding H of a graph is what the last message-passing layer gives, before the pooling.

    Raises:
        UserError: for a backbone that is not registered.
    """

    backbone: GraphBackbone
    dimensions: int
    classes: int
    level: Level = "graph"

    def __post_init__(self) -> None:
        if self.backbone not in GRAPH_BACKBONES:
            raise UserError(f"backbone {self.backbone!r} is unknown; use one of {', '.join(GRAPH_BACKBONES)}")
        if self.level not in get_args(Level) or self.dimensions < 1 or self.classes < 1:
            raise UserError(f"level {self.level!r}, {self.dimensions} features, {self.classes} classes: not a network")

    @property
    def hidden(self) -> int:
        """h, the width of the embedding."""
        return 16 if self.backbone == "gcn" else 64

    @property
    def layers(self) -> int:
        """Message-passing layers, so many hops does a node see."""
        return 2 if self.backbone == "gcn" else 5

    @property
    def dropout(self) -> float:
        """Share of the read-out that training drops before the last layer."""
        return 0.0 if self.backbone == "gcn" else 0.5

    @cached_property
    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name -> shape of everything that is averaged, batch-norm statistics included, in the order of the vector.

        GCN's matrices are (inputs, outputs), those of linear layers (outputs, inputs), as dgl and torch hold them.
        """
        h = self.hidden
        shapes: dict[str, tuple[int, ...]] = {}
        for layer in range(self.layers):
            inputs, name = (h if layer else self.dimensions), f"layers.{layer}"
            if self.backbone == "gcn":
                shapes |= {f"{name}.weight": (inputs, h), f"{name}.bias": (h,)}
                continue
            name += ".apply_func"
            shapes |= {f"{name}.0.weight": (h, inputs), f"{name}.0.bias": (h,)}
            shapes |= {f"{name}.1.{part}": (h,) for part in ("weight", "bias", "running_mean", "running_var")}
            shapes |= {f"{name}.3.weight": (h, h), f"{name}.3.bias": (h,)}
        if self.backbone == "gin":
            shapes |= {"readout.weight": (h, h), "readout.bias": (h,)}
        return shapes | {"head.weight": (self.classes, h), "head.bias": (self.classes,)}

    @property
    def size(self) -> int:
        """Length of the weight vector."""
        return sum(prod(shape) for shape in self.weight_shapes.values())

    def split(self, vector: Tensor) -> dict[str, Tensor]:
        """Views of the vector's parts, by name and in shape."""
        parts = torch.split(vector, [prod(shape) for shape in self.weight_shapes.values()])
        named = zip(self.weight_shapes.items(), parts, strict=True)
        return {name: part.view(shape) for (name, shape), part in named}

    def joined(self, weights: Mapping[str, Tensor]) -> NDArray[np.float32]:
        """The vector of the named weights, float32 on the CPU."""
        parts = [weights[name].detach().reshape(-1).cpu() for name in self.weight_shapes]
        return torch.cat(parts).to(torch.float32).numpy()


def initial_vector(architecture: GraphArchitecture, generator: torch.Generator) -> NDArray[np.float32]:
    """Xavier (Glorot) uniform matrices, zero biases and means, unit batch-norm scales and variances."""
    weights: dict[str, Tensor] = {}
    for name, shape in architecture.weight_shapes.items():
        scale = name.endswith((".1.weight", "running_var"))
        weights[name] = torch.ones(shape) if scale else torch.zeros(shape)
        if len(shape) == 2:
            torch.nn.init.xavier_uniform_(weights[name], generator=generator)
    return architecture.joined(weights)
