"""Compiled passes for smoothed predictions: class probabilities of all nodes, and the loss through them.

A row is (classes, slots). S keeps signs but not sums, so smoothed rows are divided by their sum before the logarithm.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tasks.curator.engine.kernels.gathering import source_digest
from tasks.curator.engine.kernels.nonlinear import exponential
from tasks.curator.engine.kernels.vector_ops import load, store, zeros
from tasks.curator.engine.kernels.vectors import larger


class LabelKernels(NamedTuple):
    """``softmax``, ``softmax_backward``, ``score`` and ``loss_gradient`` for one number of slots."""

    softmax: Callable[..., None]
    softmax_backward: Callable[..., None]
    score: Callable[..., None]
    loss_gradient: Callable[..., None]


@cache
def label_kernels(slots: int) -> LabelKernels:
    """Kernels for any number of classes; they compile on their first call and are cached on disk."""
    return _compiled(slots, source_digest())


def _compiled(slots: int, sources: str) -> LabelKernels:
    @njit(nogil=True, cache=True)
    def softmax(logits: Any, probabilities: Any) -> None:
        """Softmax of every row."""
        if len(sources) == 0:
            return
        rows, classes, _ = logits.shape
        for r in range(rows):
            top = load(logits, r * classes, slots)
            for c in range(1, classes):
                top = larger(top, load(logits, r * classes + c, slots))
            total = zeros(logits, slots)
            for c in range(classes):
                share = exponential(load(logits, r * classes + c, slots) - top)
                store(probabilities, r * classes + c, share)
                total = total + share
            for c in range(classes):
                store(probabilities, r * classes + c, load(probabilities, r * classes + c, slots) / total)

    @njit(nogil=True, cache=True)
    def softmax_backward(probabilities: Any, gradient: Any) -> None:
        """In place, the gradient for probabilities becomes the gradient for logits."""
        if len(sources) == 0:
            return
        rows, classes, _ = probabilities.shape
        for r in range(rows):
            mean = zeros(gradient, slots)
            for c in range(r * classes, (r + 1) * classes):
                mean = mean + load(probabilities, c, slots) * load(gradient, c, slots)
            for c in range(r * classes, (r + 1) * classes):
                store(gradient, c, load(probabilities, c, slots) * (load(gradient, c, slots) - mean))

    @njit(nogil=True, cache=True)
    def score(smoothed: Any, rows: Any, labels: Any, losses: Any, hits: Any) -> None:
        """Sums over the listed rows of cross-entropy and of right answers (the first of equals counts), per slot."""
        if len(sources) == 0:
            return
        tiny = np.finfo(smoothed.dtype).tiny
        classes = smoothed.shape[1]
        for r in range(len(rows)):
            for slot in range(slots):
                total = 0.0
                hit = 1.0
                own = smoothed[rows[r], labels[r], slot]
                for c in range(classes):
                    other = smoothed[rows[r], c, slot]
                    total += other
                    if other > own or (other == own and c < labels[r]):
                        hit = 0.0
                # max() would hide a value that is no number.
                share = own / total
                losses[slot] -= np.log(tiny if share < tiny else share)
                hits[slot] += hit

    @njit(nogil=True, cache=True)
    def loss_gradient(smoothed: Any, rows: Any, targets: Any, gradient: Any) -> None:
        """Gradient of the mean cross-entropy with ``targets`` for every smoothed value; 0 outside the listed rows."""
        if len(sources) == 0:
            return
        classes = smoothed.shape[1]
        count = smoothed.dtype.type(len(rows))
        gradient[:] = 0
        for r in range(len(rows)):
            start = rows[r] * classes
            total = zeros(gradient, slots)
            mass = targets[r, 0]
            for c in range(classes):
                total = total + load(smoothed, start + c, slots)
                mass += targets[r, c] if c > 0 else targets.dtype.type(0)
            for c in range(classes):
                q = load(smoothed, start + c, slots)
                # With no target there is nothing to divide, and the quotient could be 0/0.
                if targets[r, c] > 0:
                    store(gradient, start + c, (mass / total - targets[r, c] / q) / count)
                else:
                    store(gradient, start + c, mass / total / count)

    return LabelKernels(softmax, softmax_backward, score, loss_gradient)
