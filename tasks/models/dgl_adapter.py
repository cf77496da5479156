"""GCN and GraphSAGE from dgl's own layers: the only file that imports dgl (unmaintained, CPU-only wheel).

Messages flow from source to destination, so an entry P_ij (node i listens to node j) is the edge j -> i.
The first layer of either backbone receives projected features and keeps its matrices outside the dgl layer,
because dgl's layers would need the dense N x d features: ``GraphConv(weight=False)`` and a ``SAGEConv`` whose
linear maps are the identity then do the message passing alone. The second layer is dgl's own throughout.
"""

from __future__ import annotations

import dgl
import numpy as np
import torch
from dgl.nn.pytorch import GraphConv, SAGEConv
from scipy import sparse
from torch import Tensor, nn

from tasks.models.affine_input import AffineInput
from tasks.models.architecture import Architecture


def set_dgl_threads(threads: int) -> None:
    """Number of threads of dgl's kernels in this process."""
    dgl.utils.set_num_threads(threads)


class DglGcn(nn.Module):
    """Two ``GraphConv`` layers; the degrees are in the edge weights (dgl's own norm uses in- and out-degrees)."""

    def __init__(self, architecture: Architecture, propagation: sparse.csr_array, *, dtype: torch.dtype) -> None:
        super().__init__()
        self._graph = _graph(propagation)
        self._edge_weight = torch.from_numpy(propagation.data).to(dtype)
        shape = (architecture.dimensions, architecture.hidden)
        self.first_weight = nn.Parameter(torch.zeros(shape, dtype=dtype))
        self.first = GraphConv(architecture.hidden, architecture.hidden, norm="none", weight=False).to(dtype)
        self.second = GraphConv(architecture.hidden, architecture.classes, norm="none").to(dtype)

    def hidden(self, features: AffineInput) -> Tensor:
        """First layer and SELU, before dropout: (N, hidden)."""
        projected = features.project(self.first_weight)
        return torch.selu(self.first(self._graph, projected, edge_weight=self._edge_weight))

    def logits(self, hidden: Tensor) -> Tensor:
        """Second layer: (N, classes)."""
        logits: Tensor = self.second(self._graph, hidden, edge_weight=self._edge_weight)
        return logits

    def weights(self) -> dict[str, Tensor]:
        """The live weights by name, matrices as (inputs, outputs)."""
        return {
            "first_weight": self.first_weight,
            "first_bias": self.first.bias,
            "second_weight": self.second.weight,
            "second_bias": self.second.bias,
        }

    def load(self, weights: dict[str, Tensor]) -> None:
        """Copies weights of any dtype into this network."""
        _copy(self.weights(), weights)


class DglSage(nn.Module):
    """Two ``SAGEConv`` layers with mean aggregation and a root weight."""

    def __init__(self, architecture: Architecture, propagation: sparse.csr_array, *, dtype: torch.dtype) -> None:
        super().__init__()
        self._graph = _graph(propagation)
        self._edge_weight = _weights_of_the_mean(propagation, dtype)
        hidden, shape = architecture.hidden, (architecture.dimensions, architecture.hidden)
        self.first_root = nn.Parameter(torch.zeros(shape, dtype=dtype))
        self.first_neighbour = nn.Parameter(torch.zeros(shape, dtype=dtype))
        self.first_bias = nn.Parameter(torch.zeros(hidden, dtype=dtype))
        self.first = SAGEConv(hidden, hidden, "mean")
        self.first.fc_self = self.first.fc_neigh = nn.Identity()
        self.second = SAGEConv(hidden, architecture.classes, "mean").to(dtype)

    def hidden(self, features: AffineInput) -> Tensor:
        """First layer and SELU, before dropout: (N, hidden)."""
        pair = (features.project(self.first_neighbour), features.project(self.first_root))
        return torch.selu(self.first(self._graph, pair, edge_weight=self._edge_weight) + self.first_bias)

    def logits(self, hidden: Tensor) -> Tensor:
        """Second layer: (N, classes)."""
        logits: Tensor = self.second(self._graph, hidden, edge_weight=self._edge_weight)
        return logits

    def weights(self) -> dict[str, Tensor]:
        """The live weights by name, matrices as (inputs, outputs)."""
        return {
            "first_root": self.first_root,
            "first_neighbour": self.first_neighbour,
            "first_bias": self.first_bias,
            "second_root": self.second.fc_self.weight.T,
            "second_neighbour": self.second.fc_neigh.weight.T,
            "second_bias": self.second.fc_self.bias,
        }

    def load(self, weights: dict[str, Tensor]) -> None:
        """Copies weights of any dtype into this network."""
        _copy(self.weights(), weights)


def _graph(propagation: sparse.csr_array) -> dgl.DGLGraph:
    listeners = np.repeat(np.arange(propagation.shape[0]), np.diff(propagation.indptr))
    neighbours = propagation.indices
    graph = dgl.graph(
        (torch.from_numpy(neighbours.astype(np.int32)), torch.from_numpy(listeners.astype(np.int32))),
        num_nodes=propagation.shape[0],
    )
    graph.create_formats_()
    return graph


def _weights_of_the_mean(propagation: sparse.csr_array, dtype: torch.dtype) -> Tensor | None:
    """Edge weights that make dgl's mean (which divides by the list's length) equal P; None for a graph of bits."""
    lengths = np.diff(propagation.indptr)
    weights = propagation.data * np.repeat(lengths, lengths)
    return None if np.allclose(weights, 1.0, rtol=0, atol=1e-12) else torch.from_numpy(weights).to(dtype)


def _copy(target: dict[str, Tensor], source: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, tensor in target.items():
            tensor.copy_(source[name])
