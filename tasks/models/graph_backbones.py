"""GCN and GIN on batches of small graphs: what both forms share, and the plain torch form of message passing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn
from torch.nn import functional

from tasks.models.fixed_sparse import FixedSparse
from tasks.models.graph_architecture import GraphArchitecture
from tasks.models.graph_stack import GraphStack
from tasks.models.networks import Form


class GraphBatch(Protocol):
    """A stack of graphs, placed on a device for one form."""

    @property
    def graph(self) -> Any:
        """What the form's layers take beside the features."""

    @property
    def features(self) -> Tensor:
        """(N, d)."""

    def pooled(self, embedding: Tensor) -> Tensor:
        """Rows of one graph reduced to one, (G, h)."""


class GraphNetwork(nn.Module):
    """A network of a ``GraphArchitecture``; ``layers`` and ``place`` are the form's."""

    def __init__(
        self,
        architecture: GraphArchitecture,
        layers: list[nn.Module],
        place: Callable[[GraphStack], GraphBatch],
        *,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.place = place
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
                kept = torch.rand(rows.shape, generator=masks, device=rows.device) >= share
                rows = rows * (kept / (1 - share))
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


@dataclass(frozen=True)
class TorchBatch:
    """Propagation (N, N), features (N, d) and the pooling matrix (G, N)."""

    graph: FixedSparse
    features: Tensor
    pooling: FixedSparse

    def pooled(self, embedding: Tensor) -> Tensor:
        """Rows of one graph reduced to one, (G, h)."""
        return self.pooling @ embedding


class TorchGcnLayer(nn.Module):
    """P x W + b."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, propagation: FixedSparse, rows: Tensor) -> Tensor:
        """(N, inputs) -> (N, outputs)."""
        return propagation @ (rows @ self.weight) + self.bias


class TorchGinLayer(nn.Module):
    """MLP((A + I) x)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.apply_func = perceptron(inputs, outputs)

    def forward(self, propagation: FixedSparse, rows: Tensor) -> Tensor:
        """(N, inputs) -> (N, outputs)."""
        updated: Tensor = self.apply_func(propagation @ rows)
        return updated


def build_graph_network(
    architecture: GraphArchitecture, *, device: torch.device, form: Form, dtype: torch.dtype = torch.float32
) -> GraphNetwork:
    """A network whose weights are yet to be loaded; ``device`` and ``form`` as ``networks.resolve`` gives them."""
    if form == "dgl":
        # Imported on demand: a GPU machine needs no dgl.
        from tasks.models.dgl_graph_backbones import dgl_layers, dgl_placement

        layers, place = dgl_layers(architecture), dgl_placement(architecture, dtype)
    else:
        layer = TorchGcnLayer if architecture.backbone == "gcn" else TorchGinLayer
        layers = [layer(inputs, architecture.hidden) for inputs in layer_widths(architecture)]
        place = torch_placement(architecture, dtype, device)
    return GraphNetwork(architecture, layers, place, dtype=dtype, device=device)


def torch_placement(
    architecture: GraphArchitecture, dtype: torch.dtype, device: torch.device
) -> Callable[[GraphStack], GraphBatch]:
    """Places stacks for the torch form."""

    def place(stack: GraphStack) -> GraphBatch:
        propagation = sparse.csr_array(stack.adjacency() + sparse.eye_array(stack.nodes))
        counts = stack.node_counts
        shares = np.ones(len(counts))
        if architecture.backbone == "gcn":
            # D^-1/2 (A + I) D^-1/2 in place: the graphs are symmetric and of bits, without self-loops.
            scale = (stack.degrees + 1.0) ** -0.5
            propagation.data = np.repeat(scale, stack.degrees + 1) * scale[propagation.indices]
            shares = 1.0 / counts
        indptr = np.concatenate([[0], np.cumsum(counts)])
        pooling = sparse.csr_array(
            (np.repeat(shares, counts), np.arange(stack.nodes), indptr), shape=(stack.graphs, stack.nodes)
        )
        features = torch.from_numpy(stack.features.toarray()).to(device=device, dtype=dtype)
        return TorchBatch(
            FixedSparse(propagation, dtype=dtype, device=device),
            features,
            FixedSparse(pooling, dtype=dtype, device=device),
        )

    return place
