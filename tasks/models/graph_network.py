"""GCN and GIN on batches of small graphs: what both forms of message passing share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from tasks.models.graph_architecture import GraphArchitecture
from tasks.models.graph_stack import GraphStack


class GraphBatch(Protocol):
    """A stack of graphs as one form takes it, on its device."""

    @property
    def graph(self) -> Any:
        """What the form's layers take beside the features."""

    @property
    def features(self) -> Tensor:
        """(N, d)."""

    def pooled(self, embedding: Tensor) -> Tensor:
        """Rows of one graph reduced to one, (G, h)."""


class GraphNetwork(nn.Module):
    """A network of a ``GraphArchitecture``; ``layers`` and ``to_batch`` are the form's."""

    def __init__(
        self,
        architecture: GraphArchitecture,
        layers: list[nn.Module],
        to_batch: Callable[[GraphStack], GraphBatch],
        *,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.to_batch = to_batch
        self.layers = nn.ModuleList(layers)
        if architecture.dropout:
            self.readout = nn.Linear(architecture.hidden, architecture.hidden)
        self.head = nn.Linear(architecture.hidden, architecture.classes)
        self.to(device=device, dtype=dtype)
        state = self.state_dict(keep_vars=True)
        self._weights = {name: state[name] for name in architecture.weight_shapes}

    def embed(self, batch: GraphBatch) -> Tensor:
        """H of all graphs, (N, h)."""
        gin, last = self.architecture.backbone == "gin", len(self.layers) - 1
        rows = batch.features
        for number, layer in enumerate(self.layers):
            rows = layer(batch.graph, rows)
            if gin or number < last:
                rows = functional.relu(rows)
        return rows

    def logits(self, batch: GraphBatch, masks: torch.Generator | None = None) -> Tensor:
        """(G, classes), or (N, classes) at node level; ``masks`` draws the dropout, None leaves it out."""
        rows = self.embed(batch)
        if self.architecture.level == "graph":
            rows = batch.pooled(rows)
        share = self.architecture.dropout
        if share:
            rows = functional.relu(self.readout(rows))
            if masks is not None:
                mask = torch.rand(rows.shape, generator=masks, device=rows.device) >= share
                rows = rows * (mask / (1 - share))
        logits: Tensor = self.head(rows)
        return logits

    def vector(self) -> NDArray[np.float32]:
        """All weights, see ``GraphArchitecture.joined``."""
        return self.architecture.joined(self._weights)

    def load(self, vector: NDArray[np.float32]) -> None:
        """Copies a vector into the weights."""
        with torch.no_grad():
            for name, part in self.architecture.split(torch.from_numpy(vector)).items():
                self._weights[name].copy_(part)


def perceptron(inputs: int, hidden: int) -> nn.Sequential:
    """GIN's update of a node: linear, batch norm over all nodes of the batch, ReLU, linear."""
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, hidden)
    )


def layer_widths(architecture: GraphArchitecture) -> list[int]:
    """Input width of every message-passing layer."""
    return [architecture.dimensions, *[architecture.hidden] * (architecture.layers - 1)]
