"""GCN and GIN on batches of small graphs: the plain torch form, and the choice of a form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from tasks.models.fixed_sparse import FixedSparse
from tasks.models.graph_architecture import GraphArchitecture
from tasks.models.graph_network import GraphBatch, GraphNetwork, layer_widths, perceptron
from tasks.models.graph_stack import GraphStack
from tasks.models.networks import Form


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
        from tasks.models.dgl_graph_backbones import dgl_layers, dgl_to_batch

        layers, to_batch = dgl_layers(architecture), dgl_to_batch(architecture, dtype)
    else:
        layer = TorchGcnLayer if architecture.backbone == "gcn" else TorchGinLayer
        layers = [layer(inputs, architecture.hidden) for inputs in layer_widths(architecture)]
        to_batch = torch_to_batch(architecture, dtype, device)
    return GraphNetwork(architecture, layers, to_batch, dtype=dtype, device=device)


def torch_to_batch(
    architecture: GraphArchitecture, dtype: torch.dtype, device: torch.device
) -> Callable[[GraphStack], GraphBatch]:
    """Makes stacks into batches of the torch form."""

    def to_batch(stack: GraphStack) -> GraphBatch:
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

    return to_batch
