"""The first layer of a block: weights to hidden values, and gradients back to a step on the weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.curator.engine.compiled.edges import Edges
from tasks.curator.engine.compiled.slots import BatchSlots
from tasks.curator.engine.compiled.weights import StackedWeights
from tasks.curator.engine.kernels.adam import adam_kernels
from tasks.curator.engine.kernels.first_layer import first_kernels
from tasks.curator.engine.shared_tensors import SharedTensors


class FirstPass:
    """Buffers and products of the first layer.

    ``active`` and ``dropped`` are the hidden values (N, hidden, slots) without and with dropout, ``gradient`` is that
    before the SELU, ``projected`` what last went through P (where P is applied on its own).
    """

    def __init__(self, shared: SharedTensors, edges: Edges, weights: StackedWeights, slots: BatchSlots) -> None:
        self._shared, self._edges, self._weights, self._slots = shared, edges, weights, slots
        hidden, matrices = shared.architecture.hidden, shared.first.matrices
        row = (hidden, slots.count)
        self._kernels, self._adam = first_kernels(*row), adam_kernels(*row)
        self.active, self.dropped, self.gradient = np.zeros((3, shared.nodes, *row), dtype=shared.dtype)
        self._column_sums, self._constant_gradient = np.zeros((2, matrices, *row), dtype=shared.dtype)
        staged = shared.first.fused is None
        self._stages = np.zeros((matrices if staged else 0, 2, shared.nodes, *row), dtype=shared.dtype)
        self._nothing = self.projected = np.zeros((0, *row), dtype=shared.dtype)
        self._draws = slots.ages
        self._row_scales = shared.first.row_scales
        if shared.support is not None:
            # What a constant feature becomes along edges depends on their weights: it travels with the others.
            self._row_scales = self._row_scales.copy()
            self._row_scales[-1] = 0
        # "Dropout" that keeps everything, for gradients without dropout.
        ranks = np.ones((1, shared.nodes, hidden), dtype=np.uint8)
        zeros, scale = np.zeros(slots.count, dtype=np.int64), np.ones_like(slots.dropout_scale)
        self._no_dropout = (ranks, zeros, zeros.astype(np.uint8), scale)

    def load(self, slot: int) -> None:
        """Takes up the weights that were put into a slot."""
        for matrix, weight in enumerate(self._weights.matrices):
            self._column_sums[matrix, :, slot] = weight[..., slot].sum(axis=0) * self._shared.first.constant

    def forward(self) -> None:
        """Hidden values of the current weights, with the dropout of the next step."""
        first, slots = self._shared.first, self._slots
        source, own, product = self._weights.first, self._nothing, first.fused
        if product is None:
            *others, source = [self._projected(matrix) for matrix in range(first.matrices)]
            own = others[0] if others else own
            product, self.projected = self._edges.propagation, source
        self._draws = slots.draws()
        self._kernels.forward(
            *product.arrays, source, own, self._row_scales, self._column_sums, self._weights.first_bias,
            slots.ranks.ranks, self._draws, slots.thresholds, slots.dropout_scale, slots.rank_rows,
            self.active, self.dropped,
        )  # fmt: skip

    def backward(self, message: NDArray[Any], own_message: NDArray[Any], *, dropout: bool = True) -> None:
        """``gradient`` from what the second layer sends back; the gradients of bias and constant."""
        slots = self._slots
        masks = (slots.ranks.ranks, self._draws, slots.thresholds, slots.dropout_scale) if dropout else self._no_dropout
        self._constant_gradient[:] = 0
        self._kernels.backward(
            *self._edges.senders_transposed.arrays, message, self._shared.row_of, own_message, self.active,
            self._row_scales, *masks, slots.rank_rows, self.gradient, self._weights.first_bias_gradient,
            self._constant_gradient,
        )  # fmt: skip

    def step_weights(self) -> None:
        """One step of Adam on all weights, those of the second layer from the gradients summed for them."""
        first, weights, step = self._shared.first, self._weights, self._slots.step
        for matrix, (weight, moment, square) in enumerate(weights.first_states):
            self._adam.step_weights(
                *first.transposed[matrix].arrays, self._returned(matrix), first.constant,
                self._constant_gradient[matrix], step, weight, moment, square, self._column_sums[matrix],
            )  # fmt: skip
        self._adam.step_rest(weights.rest_gradient, step, weights.rest, *weights.rest_moments)

    def _projected(self, matrix: int) -> NDArray[Any]:
        """S^l (X W) of one matrix, (N, hidden, slots)."""
        first, weight = self._shared.first, self._weights.matrices[matrix]
        out, spare = self._stages[matrix]
        if first.dense is not None:
            np.matmul(first.dense, weight.reshape(len(weight), -1), out=out.reshape(len(out), -1))
            return out
        assert first.project is not None  # one of the two in the staged form
        self._kernels.propagate(*first.project.arrays, weight, out)
        for _ in range(first.steps):
            assert first.smooth is not None
            self._kernels.propagate(*first.smooth.arrays, out, spare)
            out, spare = spare, out
        if self._travels(matrix):
            self._kernels.add_outer(first.reach, self._column_sums[matrix], out)
        return out

    def _returned(self, matrix: int) -> NDArray[Any]:
        """What the transposed features multiply: the gradient, back through P and S in the staged form."""
        first, gradient = self._shared.first, self.gradient
        if first.fused is not None:
            return gradient
        out, spare = self._stages[matrix]
        if matrix == first.matrices - 1:
            self._kernels.propagate(*self._edges.transposed.arrays, gradient, out)
            gradient = out
        if self._travels(matrix):
            self._kernels.add_outer_backward(first.reach, gradient, self._constant_gradient[matrix])
        for _ in range(first.steps):
            assert first.smooth_transposed is not None
            target = spare if gradient is out else out
            self._kernels.propagate(*first.smooth_transposed.arrays, gradient, target)
            gradient = target
        if first.dense is None:
            return gradient
        returned: NDArray[Any] = first.dense.T @ gradient.reshape(len(gradient), -1)
        return returned

    def _travels(self, matrix: int) -> bool:
        """Whether the constant goes along the edges of this matrix's product."""
        return self._shared.support is not None and matrix == self._shared.first.matrices - 1
