"""Rectified features as the first layer reads them: x = constant + sparse, never an N x d matrix."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from scipy import sparse
from torch import Tensor

from tasks.models.fixed_sparse import FixedSparse


@dataclass(frozen=True)
class AffineInput:
    """Features (N, d) equal to ``constant`` in every cell plus a sparse matrix (N, d)."""

    constant: float
    sparse: FixedSparse

    def project(self, weight: Tensor) -> Tensor:
        """x @ weight, (N, k) for weight (d, k): the constant costs one column sum of the weight.

        Both backbones are linear before they aggregate, so P (x W) replaces (P x) W: the features are projected
        to ``hidden`` columns first and only those travel along the edges.
        """
        projected = self.sparse @ weight
        if self.constant:
            projected = projected + self.constant * weight.sum(dim=0)
        return projected


def affine_input(constant: float, matrix: sparse.csr_array, *, dtype: torch.dtype, device: torch.device) -> AffineInput:
    """Moves ``constant + matrix`` to a device."""
    return AffineInput(float(constant), FixedSparse(matrix, dtype=dtype, device=device))
