"""GCN and GraphSAGE in plain torch: the form that runs on a GPU, and the check of the dgl form."""

from __future__ import annotations

import torch
from scipy import sparse
from torch import Tensor, nn

from tasks.models.affine_input import AffineInput
from tasks.models.architecture import Architecture
from tasks.models.fixed_sparse import FixedSparse


class TorchNetwork(nn.Module):
    """Two layers over a fixed propagation matrix P (N, N); weights named as in ``Architecture.weight_shapes``."""

    def __init__(
        self, architecture: Architecture, propagation: sparse.csr_array, *, dtype: torch.dtype, device: torch.device
    ) -> None:
        super().__init__()
        self._sage = architecture.backbone == "sage"
        self._propagation = FixedSparse(propagation, dtype=dtype, device=device)
        for name, shape in architecture.weight_shapes().items():
            self.register_parameter(name, nn.Parameter(torch.zeros(shape, dtype=dtype, device=device)))

    def hidden(self, features: AffineInput) -> Tensor:
        """First layer and SELU, before dropout: (N, hidden)."""
        weight = self.weights()
        if self._sage:
            mean = self._propagation @ features.project(weight["first_neighbour"])
            return torch.selu(features.project(weight["first_root"]) + mean + weight["first_bias"])
        return torch.selu(self._propagation @ features.project(weight["first_weight"]) + weight["first_bias"])

    def logits(self, hidden: Tensor) -> Tensor:
        """Second layer: (N, classes)."""
        weight = self.weights()
        if self._sage:
            mean = self._propagation @ (hidden @ weight["second_neighbour"])
            return hidden @ weight["second_root"] + mean + weight["second_bias"]
        return self._propagation @ (hidden @ weight["second_weight"]) + weight["second_bias"]

    def weights(self) -> dict[str, Tensor]:
        """The live weights by name, matrices as (inputs, outputs)."""
        return dict(self.named_parameters())

    def load(self, weights: dict[str, Tensor]) -> None:
        """Copies weights of any dtype and device into this network."""
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                parameter.copy_(weights[name])
