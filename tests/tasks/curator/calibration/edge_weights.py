"""Message passing over edges with weights that can be learned: the gradient of a loss reaches every weight."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from tasks.errors import UserError
from tasks.models.architecture import Architecture, Backbone
from tasks.models.propagation import NORMALIZATIONS, Normalization
from tasks.models.torch_form import TorchNetwork


class WeightedPropagation:
    """The step of ``propagation_matrix`` as a differentiable function of the weights on a fixed support.

    ``weights`` is (E,), in the row-by-row order of the graph's stored entries; it is read at every product. For GCN a
    stored diagonal entry has no influence, the self-loop being one; degrees follow the weights.
    """

    def __init__(
        self,
        graph: sparse.csr_array,
        backbone: Backbone,
        normalization: Normalization = "symmetric",
        *,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        if normalization not in NORMALIZATIONS:
            raise UserError(f"normalization {normalization!r} is unknown; use one of {', '.join(NORMALIZATIONS)}")
        rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        self._nodes = graph.shape[0]
        self._rows = torch.from_numpy(rows).to(device)
        self._columns = torch.from_numpy(graph.indices.astype(np.int64)).to(device)
        self._loops, self._symmetric = backbone == "gcn", backbone == "gcn" and normalization == "symmetric"
        self._off_diagonal = (self._rows != self._columns).to(dtype)
        self.weights = torch.from_numpy(graph.data.astype(np.float64)).to(dtype).to(device).requires_grad_()

    def __matmul__(self, dense: Tensor) -> Tensor:
        """P(weights) @ dense, (N, k); differentiable in both."""
        weights = self.weights * self._off_diagonal if self._loops else self.weights
        sums = self._gathered(weights)
        own = torch.ones_like(sums) if self._loops else (sums == 0).to(sums.dtype)
        degrees = sums + own
        if self._symmetric:
            scale = degrees.rsqrt().unsqueeze(1)
            scaled = scale * dense
            return scale * (self._gathered(weights.unsqueeze(1) * scaled[self._columns]) + scaled)
        received = self._gathered(weights.unsqueeze(1) * dense[self._columns])
        return (received + own.unsqueeze(1) * dense) / degrees.unsqueeze(1)

    def _gathered(self, values: Tensor) -> Tensor:
        """Sums per row of values per edge, (N, ...) for (E, ...)."""
        return values.new_zeros(self._nodes, *values.shape[1:]).index_add(0, self._rows, values)


class WeightedNetwork(TorchNetwork):
    """GCN or GraphSAGE over a graph (N, N) whose weights are learned too; they start at the graph's own."""

    def __init__(
        self,
        architecture: Architecture,
        graph: sparse.csr_array,
        *,
        normalization: Normalization = "symmetric",
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        super().__init__(architecture, sparse.csr_array(graph.shape), dtype=dtype, device=device)
        edges = WeightedPropagation(graph, architecture.backbone, normalization, dtype=dtype, device=device)
        self._propagation = edges  # type: ignore[assignment]
        self._edges = edges

    @property
    def edge_weights(self) -> Tensor:
        """The live weights (E,); no member of ``parameters``, since they have steps of their own."""
        return self._edges.weights
