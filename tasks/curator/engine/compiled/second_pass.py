"""The second layer of a block: training gradients, validation at every l_y, and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.curator.engine.compiled.edges import Edges
from tasks.curator.engine.compiled.operators import Csr
from tasks.curator.engine.compiled.weights import StackedWeights
from tasks.curator.engine.family import Family
from tasks.curator.engine.kernels.first_layer import first_kernels
from tasks.curator.engine.kernels.label import label_kernels
from tasks.curator.engine.kernels.second_layer import second_kernels


class SecondPass:
    """Buffers and products of the second layer.

    ``message`` and ``own_message`` (rows, hidden, lanes) hold what the last ``teach`` sends back to the hidden values,
    through P and directly.
    """

    def __init__(self, family: Family, edges: Edges, weights: StackedWeights, lanes: int) -> None:
        self._propagation = edges.propagation
        self._family, self._weights, self._lanes = family, weights, lanes
        hidden, classes = family.architecture.hidden, family.architecture.classes
        dtype, rows, judged = family.dtype, len(family.senders), len(family.validation_rows)
        self._kernels = second_kernels(hidden, lanes)
        self.message = np.zeros((rows, hidden, lanes), dtype=dtype)
        self.own_message = np.zeros((rows if family.first.matrices == 2 else 0, hidden, lanes), dtype=dtype)
        self._room = np.zeros((classes, lanes), dtype=dtype)
        self._logits = np.zeros((judged, classes, lanes), dtype=dtype)
        self._everyone = np.arange(family.nodes)
        if family.smooth is not None:
            self._labels, self._smoothing = label_kernels(lanes), first_kernels(classes, lanes).propagate
            self._probabilities, *self._spare = np.zeros((3, family.nodes, classes, lanes), dtype=dtype)

    def teach(self, dropped: NDArray[Any]) -> None:
        """Gradients of the training loss at the hidden values (N, hidden, lanes), added to the weights' own."""
        family, weights = self._family, self._weights
        ends = (self.message, self.own_message, weights.near_gradient, weights.own_gradient, weights.bias_gradient)
        if family.loss_smoothing == 0:
            self._kernels.teach(
                *self._propagation.arrays, family.taught_rows, family.targets, dropped,
                weights.near, weights.own, weights.bias, self._room, *ends,
            )  # fmt: skip
            return
        assert family.smooth is not None and family.smooth_transposed is not None
        gradient, spare = self._spare
        self._soften(dropped)
        smoothed = self._smoothed(family.smooth, self._probabilities, family.loss_smoothing)
        if smoothed is gradient:
            gradient, spare = spare, gradient
        self._labels.loss_gradient(smoothed, family.taught_rows, family.targets, gradient)
        for _ in range(family.loss_smoothing):
            self._smoothing(*family.smooth_transposed.arrays, gradient, spare)
            gradient, spare = spare, gradient
        self._labels.soften_back(self._probabilities, gradient)
        self._kernels.carry(*self._propagation.arrays, gradient, dropped, weights.near, weights.own, *ends)

    def validate(self, active: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean validation cross-entropy and accuracy, (readings, lanes) each."""
        family = self._family
        rows, labels = family.validation_rows, family.validation_labels
        losses, hits = np.zeros((2, len(family.readings), self._lanes))
        # Unsmoothed predictions are judged by their logits, whichever other readings there are.
        if family.readings[0] == 0:
            self._classify(active, rows, self._logits)
            self._kernels.judge(self._logits, labels, losses[0], hits[0])
        if family.smooth is not None:
            self._soften(active)
            smoothed, done = self._probabilities, 0
            for reading, steps in enumerate(family.readings):
                if steps:
                    smoothed, done = self._smoothed(family.smooth, smoothed, steps - done), steps
                    self._labels.judge(smoothed, rows, labels, losses[reading], hits[reading])
        return losses / len(rows), hits / len(rows)

    def logits(self, active: NDArray[Any]) -> NDArray[Any]:
        """Of all nodes, (N, classes, lanes)."""
        logits = np.empty((self._family.nodes, *self._room.shape), dtype=self._room.dtype)
        self._classify(active, self._everyone, logits)
        return logits

    def predict(self, active: NDArray[Any], steps: int) -> NDArray[np.float64]:
        """Log-probabilities of all nodes after ``steps`` of smoothing, (N, classes, lanes)."""
        logits = self.logits(active)
        if steps == 0:
            shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
            return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        assert self._family.smooth is not None
        self._soften(active)
        smoothed = self._smoothed(self._family.smooth, self._probabilities, steps).astype(np.float64)
        shares = smoothed / smoothed.sum(axis=1, keepdims=True)
        return np.log(np.maximum(shares, np.finfo(logits.dtype).tiny))

    def _classify(self, active: NDArray[Any], rows: NDArray[np.int64], logits: NDArray[Any]) -> None:
        weights = self._weights
        propagation = self._propagation.arrays
        self._kernels.classify(*propagation, rows, active, weights.near, weights.own, weights.bias, logits)

    def _soften(self, active: NDArray[Any]) -> None:
        logits = self._spare[0]
        self._classify(active, self._everyone, logits)
        self._labels.soften(logits, self._probabilities)

    def _smoothed(self, operator: Csr, source: NDArray[Any], steps: int) -> NDArray[Any]:
        """S^steps source, in one of the spare buffers unless there is nothing to do."""
        for _ in range(steps):
            out = self._spare[1] if source is self._spare[0] else self._spare[0]
            self._smoothing(*operator.arrays, source, out)
            source = out
        return source
