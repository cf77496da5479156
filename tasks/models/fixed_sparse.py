"""A constant sparse matrix in torch, with the product and its gradient computed from two stored CSR forms.

torch's own gradient of a CSR product transposes the matrix on every call (20 times the cost of the product on
Cora); here the transpose is stored once, and no gradient for the matrix itself is ever formed.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")


class FixedSparse:
    """A scipy matrix (rows, columns) placed on ``device`` with its transpose."""

    def __init__(self, matrix: sparse.csr_array, *, dtype: torch.dtype, device: torch.device) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self._forward = _to_torch(matrix, dtype, device)
        self._transposed = _to_torch(sparse.csr_array(matrix.T), dtype, device)

    def __matmul__(self, dense: Tensor) -> Tensor:
        """matrix @ dense, (rows, k) for dense (columns, k); differentiable in ``dense``."""
        product: Tensor = _Product.apply(dense, self._forward, self._transposed)
        return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Tensor, transposed: Tensor) -> Tensor:
        ctx.transposed = transposed
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transposed @ gradients[0], None, None


def _to_torch(matrix: sparse.csr_array, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr.astype(np.int32)),
        torch.from_numpy(matrix.indices.astype(np.int32)),
        torch.from_numpy(matrix.data.astype(np.float64)).to(dtype),
        size=matrix.shape,
        check_invariants=False,
        device=device,
    )
