"""The second layer of a block: training gradients, validation at every l_y, and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.curator.engine.compiled.edges import Edges
from tasks.curator.engine.compiled.operators import Csr
from tasks.curator.engine.compiled.weights import StackedWeights
from tasks.curator.engine.kernels.first_layer import first_kernels
from tasks.curator.engine.kernels.label import label_kernels
from tasks.curator.engine.kernels.second_layer import second_kernels
from tasks.curator.engine.shared_tensors import SharedTensors


class SecondPass:
    """Buffers and products of the second layer.

    ``message`` and ``own_message`` (rows, hidden, slots) hold what the last ``loss_backward`` sends back to the hidden
    values, through P and directly.
    """

    def __init__(self, shared: SharedTensors, edges: Edges, weights: StackedWeights, slots: int) -> None:
        self._propagation = edges.propagation
        self._shared, self._weights, self._slots = shared, weights, slots
        hidden, classes = shared.architecture.hidden, shared.architecture.classes
        dtype, rows, validated = shared.dtype, len(shared.senders), len(shared.validation_rows)
        self._kernels = second_kernels(hidden, slots)
        self.message = np.zeros((rows, hidden, slots), dtype=dtype)
        self.own_message = np.zeros((rows if shared.first.matrices == 2 else 0, hidden, slots), dtype=dtype)
        self._workspace = np.zeros((classes, slots), dtype=dtype)
        self._logits = np.zeros((validated, classes, slots), dtype=dtype)
        self._everyone = np.arange(shared.nodes)
        if shared.smooth is not None:
            self._labels, self._smoothing = label_kernels(slots), first_kernels(classes, slots).propagate
            self._probabilities, *self._spare = np.zeros((3, shared.nodes, classes, slots), dtype=dtype)

    def loss_backward(self, dropped: NDArray[Any]) -> None:
        """Gradients of the training loss at the hidden values (N, hidden, slots), added to the weights' own."""
        shared, weights = self._shared, self._weights
        ends = (self.message, self.own_message, weights.near_gradient, weights.own_gradient, weights.bias_gradient)
        if shared.loss_smoothing == 0:
            self._kernels.loss_backward(
                *self._propagation.arrays, shared.training_rows, shared.targets, dropped,
                weights.near, weights.own, weights.bias, self._workspace, *ends,
            )  # fmt: skip
            return
        assert shared.smooth is not None and shared.smooth_transposed is not None
        gradient, spare = self._spare
        self._softmax(dropped)
        smoothed = self._smoothed(shared.smooth, self._probabilities, shared.loss_smoothing)
        if smoothed is gradient:
            gradient, spare = spare, gradient
        self._labels.loss_gradient(smoothed, shared.training_rows, shared.targets, gradient)
        for _ in range(shared.loss_smoothing):
            self._smoothing(*shared.smooth_transposed.arrays, gradient, spare)
            gradient, spare = spare, gradient
        self._labels.softmax_backward(self._probabilities, gradient)
        self._kernels.backward_from_logits(
            *self._propagation.arrays, gradient, dropped, weights.near, weights.own, *ends
        )

    def validate(self, active: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean validation cross-entropy and accuracy, (evaluations, slots) each."""
        shared = self._shared
        rows, labels = shared.validation_rows, shared.validation_labels
        losses, hits = np.zeros((2, len(shared.evaluations), self._slots))
        # Unsmoothed predictions are evaluated by their logits, whichever other evaluations there are.
        if shared.evaluations[0] == 0:
            self._classify(active, rows, self._logits)
            self._kernels.score(self._logits, labels, losses[0], hits[0])
        if shared.smooth is not None:
            self._softmax(active)
            smoothed, done = self._probabilities, 0
            for evaluation, steps in enumerate(shared.evaluations):
                if steps:
                    smoothed, done = self._smoothed(shared.smooth, smoothed, steps - done), steps
                    self._labels.score(smoothed, rows, labels, losses[evaluation], hits[evaluation])
        return losses / len(rows), hits / len(rows)

    def logits(self, active: NDArray[Any]) -> NDArray[Any]:
        """Of all nodes, (N, classes, slots)."""
        logits = np.empty((self._shared.nodes, *self._workspace.shape), dtype=self._workspace.dtype)
        self._classify(active, self._everyone, logits)
        return logits

    def predict(self, active: NDArray[Any], steps: int) -> NDArray[np.float64]:
        """Log-probabilities of all nodes after ``steps`` of smoothing, (N, classes, slots)."""
        logits = self.logits(active)
        if steps == 0:
            shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
            return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        assert self._shared.smooth is not None
        self._softmax(active)
        smoothed = self._smoothed(self._shared.smooth, self._probabilities, steps).astype(np.float64)
        shares = smoothed / smoothed.sum(axis=1, keepdims=True)
        return np.log(np.maximum(shares, np.finfo(logits.dtype).tiny))

    def _classify(self, active: NDArray[Any], rows: NDArray[np.int64], logits: NDArray[Any]) -> None:
        weights = self._weights
        propagation = self._propagation.arrays
        self._kernels.classify(*propagation, rows, active, weights.near, weights.own, weights.bias, logits)

    def _softmax(self, active: NDArray[Any]) -> None:
        logits = self._spare[0]
        self._classify(active, self._everyone, logits)
        self._labels.softmax(logits, self._probabilities)

    def _smoothed(self, operator: Csr, source: NDArray[Any], steps: int) -> NDArray[Any]:
        """S^steps source, in one of the spare buffers unless there is nothing to do."""
        for _ in range(steps):
            out = self._spare[1] if source is self._spare[0] else self._spare[0]
            self._smoothing(*operator.arrays, source, out)
            source = out
        return source
