"""The first layer of a block: weights to hidden values, and gradients back to a step on the weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tasks.curator.engine.adam_kernels import adam_kernels
from tasks.curator.engine.family import Family
from tasks.curator.engine.first_kernels import first_kernels
from tasks.curator.engine.lanes import Lanes
from tasks.curator.engine.weights import StackedWeights


class FirstPass:
    """Buffers and products of the first layer.

    ``active`` and ``dropped`` are the hidden values (N, hidden, lanes) without and with dropout.
    """

    def __init__(self, family: Family, weights: StackedWeights, lanes: Lanes) -> None:
        self._family, self._weights, self._lanes = family, weights, lanes
        hidden, matrices = family.architecture.hidden, family.first.matrices
        row = (hidden, lanes.count)
        self._kernels, self._adam = first_kernels(*row), adam_kernels(*row)
        self.active, self.dropped, self._gradient = np.zeros((3, family.nodes, *row), dtype=family.dtype)
        self._column_sums, self._constant_gradient = np.zeros((2, matrices, *row), dtype=family.dtype)
        staged = family.first.last_transposed is not None
        self._stages = np.zeros((matrices if staged else 0, 2, family.nodes, *row), dtype=family.dtype)
        self._nothing = np.zeros((0, *row), dtype=family.dtype)
        self._draws = lanes.ages

    def load(self, lane: int) -> None:
        """Takes up the weights that were put into a lane."""
        for matrix, weight in enumerate(self._weights.matrices()):
            self._column_sums[matrix, :, lane] = weight[..., lane].sum(axis=0) * self._family.first.constant

    def activate(self) -> None:
        """Hidden values of the current weights, with the dropout of the next step."""
        first, lanes = self._family.first, self._lanes
        source, own = self._weights.first, self._nothing
        if first.last_transposed is not None:
            *others, source = [self._projected(matrix) for matrix in range(first.matrices)]
            own = others[0] if others else own
        self._draws = lanes.draws()
        self._kernels.activate(
            *first.last.arrays, source, own, first.row_scales, self._column_sums, self._weights.first_bias,
            lanes.ranks.ranks, self._draws, lanes.thresholds, lanes.kept_scale, lanes.places,
            self.active, self.dropped,
        )  # fmt: skip

    def descend(self, message: NDArray[Any], own_message: NDArray[Any]) -> None:
        """One step of Adam on the first layer's weights; the bias' gradient is left for the step on the rest."""
        family, first, lanes = self._family, self._family.first, self._lanes
        self._constant_gradient[:] = 0
        self._kernels.retreat(
            *family.taught_transposed.arrays, message, family.row_of, own_message, self.active, first.row_scales,
            lanes.ranks.ranks, self._draws, lanes.thresholds, lanes.kept_scale, lanes.places,
            self._gradient, self._weights.first_bias_gradient, self._constant_gradient,
        )  # fmt: skip
        for matrix, (weight, moment, square) in enumerate(self._weights.first_states()):
            self._adam.descend(
                *first.descend[matrix].arrays, self._returned(matrix), first.constant,
                self._constant_gradient[matrix], lanes.step, weight, moment, square, self._column_sums[matrix],
            )  # fmt: skip

    def descend_rest(self) -> None:
        """One step of Adam on all other weights, from the gradients that have been summed for them."""
        weights = self._weights
        self._adam.descend_rest(weights.rest_gradient, self._lanes.step, weights.rest, *weights.rest_moments)

    def _projected(self, matrix: int) -> NDArray[Any]:
        """S^l (X W) of one matrix, (N, hidden, lanes)."""
        first, weight = self._family.first, self._weights.matrices()[matrix]
        out, spare = self._stages[matrix]
        if first.dense is not None:
            flat = torch.from_numpy(out.reshape(len(out), -1))
            torch.mm(torch.from_numpy(first.dense), torch.from_numpy(weight.reshape(len(weight), -1)), out=flat)
            return out
        assert first.project is not None  # one of the two in the staged form
        self._kernels.propagate(*first.project.arrays, weight, out)
        for _ in range(first.steps):
            assert first.smooth is not None
            self._kernels.propagate(*first.smooth.arrays, out, spare)
            out, spare = spare, out
        return out

    def _returned(self, matrix: int) -> NDArray[Any]:
        """What the transposed features multiply: the gradient, back through P and S in the staged form."""
        first, gradient = self._family.first, self._gradient
        if first.last_transposed is None:
            return gradient
        out, spare = self._stages[matrix]
        if matrix == first.matrices - 1:
            self._kernels.propagate(*first.last_transposed.arrays, gradient, out)
            gradient = out
        for _ in range(first.steps):
            assert first.smooth_transposed is not None
            target = spare if gradient is out else out
            self._kernels.propagate(*first.smooth_transposed.arrays, gradient, target)
            gradient = target
        if first.dense is None:
            return gradient
        return (torch.from_numpy(first.dense).T @ torch.from_numpy(gradient.reshape(len(gradient), -1))).numpy()
