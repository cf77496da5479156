"""Sparse products of a block in torch: shared values, or values of each model's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from tasks.curator.engine.compiled.edges import Support
from tasks.curator.engine.compiled.operators import Csr
from tasks.models.fixed_sparse import FixedSparse


class StackedSparse:
    """A sparse matrix that all models share, for stacked rows (columns, k, slots)."""

    def __init__(self, csr: Csr, shape: tuple[int, int], device: torch.device) -> None:
        matrix = csr_array((csr.values, csr.columns, csr.starts), shape=shape)
        dtype = torch.from_numpy(csr.values).dtype
        self._matrix = FixedSparse(matrix, dtype=dtype, device=device)

    def __matmul__(self, stacked: Tensor) -> Tensor:
        """(rows, k, slots); differentiable in ``stacked``."""
        flat: Tensor = self._matrix @ stacked.reshape(len(stacked), -1)
        return flat.reshape(-1, *stacked.shape[1:])


class LearnedPropagation:
    """P from weights (entries, slots) on a support; the gradient reaches every weight, through the degrees too."""

    def __init__(self, support: Support, slots: int, device: torch.device) -> None:
        self._support = support
        to_device = lambda array: torch.from_numpy(np.array(array)).to(device)  # noqa: E731
        lengths = np.diff(support.pattern.indptr)
        self._lengths = to_device(lengths.astype(np.int64))
        self._rows = to_device(np.repeat(np.arange(len(lengths)), lengths))
        self._columns = to_device(support.pattern.indices.astype(np.int64))
        self._own = to_device(support.diagonal)
        self._learned, self._reported = to_device(support.learned), to_device(support.reported)
        self.weights = to_device(support.start).unsqueeze(1).repeat(1, slots)

    def put(self, slot: int, weights: NDArray[Any] | None) -> None:
        """The graph's own weights, or those of ``copied``."""
        self.weights = self.weights.detach()
        start = np.array(self._support.start)
        if weights is not None:
            start[self._support.learned] = weights[self._support.stored]
        self.weights[:, slot] = torch.from_numpy(start).to(self.weights.device)

    def copied(self, slot: int) -> NDArray[Any]:
        """Weights (E,) in the order of the graph's stored entries; entries without influence are one."""
        weights = np.ones(self._support.entries, dtype=self._support.start.dtype)
        weights[self._support.stored] = self.weights[self._learned, slot].detach().cpu().numpy()
        return weights

    def __matmul__(self, stacked: Tensor) -> Tensor:
        """P @ stacked, (N, k, slots), for stacked (N, k, slots)."""
        messages = self._values().unsqueeze(1) * stacked[self._columns]
        return self._summed(messages.flatten(1)).reshape(stacked.shape)

    def step(self, gradient: Tensor, sizes: Tensor) -> None:
        """One proximal step of the learned entries; ``sizes`` (3, slots): step size, lambda1, lambda2."""
        size, distance, sparsity = sizes
        weights = self.weights.detach()
        learned = weights[self._learned]
        slope = gradient[self._learned] + 2 * distance * (learned - self._reported.unsqueeze(1))
        weights[self._learned] = (learned - size * slope - size * sparsity).clamp(0.0, 1.0)
        self.weights = weights

    def _values(self) -> Tensor:
        sums = self._summed(self.weights)
        alone = sums == 0
        degrees = torch.where(alone, torch.ones_like(sums), sums)
        if self._support.symmetric:
            scale = degrees.rsqrt()
            return self.weights * scale[self._rows] * scale[self._columns]
        values = self.weights / degrees[self._rows]
        return values.index_add(0, self._own, alone.to(values.dtype))

    def _summed(self, values: Tensor) -> Tensor:
        """Sums over the entries of a row, (N, k); without atomic additions, so always in the same order."""
        return torch.segment_reduce(values.contiguous(), "sum", lengths=self._lengths, axis=0)
