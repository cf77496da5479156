"""Weights and Adam's moments of a block's models, stacked with the models innermost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.models.architecture import Architecture


class StackedWeights:
    """All weights of ``slots`` models.

    ``first`` is (matrices * d, hidden, slots): the first layer's matrices (GraphSAGE: root, then neighbour) one below
    the other. All others lie in one array ``rest`` (rows, slots), of which the following are views: the second layer's
    ``near`` and ``own`` (classes, hidden, slots; ``own`` is empty for GCN) and ``bias`` (classes, slots), and
    ``first_bias`` (hidden, slots). The ``..._gradient`` arrays are laid out likewise. ``matrices`` are views of the
    first layer's matrices (d, hidden, slots), ``first_states`` each of them with its two moments.
    """

    def __init__(self, architecture: Architecture, slots: int, dtype: Any) -> None:
        hidden, classes = architecture.hidden, architecture.classes
        self._architecture = architecture
        self._count = 1 if architecture.backbone == "gcn" else 2
        small = self._count * classes * hidden + classes + hidden
        self.first = np.zeros((self._count * architecture.dimensions, hidden, slots), dtype=dtype)
        self.rest = np.zeros((small, slots), dtype=dtype)
        self.rest_gradient = np.zeros_like(self.rest)
        self._first_moments = (np.zeros_like(self.first), np.zeros_like(self.first))
        self.matrices = np.split(self.first, self._count)
        halves = [np.split(moment, self._count) for moment in self._first_moments]
        self.first_states = list(zip(self.matrices, *halves, strict=True))
        self.rest_moments = (np.zeros_like(self.rest), np.zeros_like(self.rest))
        self.near, self.own, self.bias, self.first_bias = self._parts(self.rest)
        parts = self._parts(self.rest_gradient)
        self.near_gradient, self.own_gradient, self.bias_gradient, self.first_bias_gradient = parts

    def put(self, slot: int, start: dict[str, NDArray[Any]]) -> None:
        """Weights by name, with moments at zero."""
        for name, view in self._named(slot).items():
            view[...] = start[name]
        for moments in (*self._first_moments, *self.rest_moments, self.rest_gradient):
            moments[..., slot] = 0

    def copied(self, slot: int) -> dict[str, NDArray[Any]]:
        """The weights of one model by name, as in ``Architecture.weight_shapes``."""
        return {name: np.ascontiguousarray(view) for name, view in self._named(slot).items()}

    def _named(self, slot: int) -> dict[str, NDArray[Any]]:
        first = [matrix[..., slot] for matrix in self.matrices]
        near, own = self.near[..., slot].T, self.own[..., slot]
        biases = {"first_bias": self.first_bias[..., slot], "second_bias": self.bias[..., slot]}
        if self._count == 1:
            return {"first_weight": first[0], "second_weight": near, **biases}
        return {
            "first_root": first[0],
            "first_neighbour": first[1],
            "second_root": own.T,
            "second_neighbour": near,
            **biases,
        }

    def _parts(self, array: NDArray[Any]) -> list[NDArray[Any]]:
        hidden, classes = self._architecture.hidden, self._architecture.classes
        sizes = np.cumsum([classes * hidden, (self._count - 1) * classes * hidden, classes])
        near, own, bias, first_bias = np.split(array, sizes)
        return [near.reshape(classes, hidden, -1), own.reshape(-1, hidden, array.shape[1]), bias, first_bias]
