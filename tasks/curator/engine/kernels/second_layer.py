"""Compiled passes over rows of nodes for the second layer: training rows with their gradients, validation, logits.

Both backbones are linear before they aggregate; here the hidden values are aggregated first, so that the products with
the small matrices are formed only for the rows that are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tasks.curator.engine.kernels.gathering import gathered, source_digest
from tasks.curator.engine.kernels.nonlinear import exponential
from tasks.curator.engine.kernels.vector_ops import fold, load, store, tile, zeros
from tasks.curator.engine.kernels.vectors import fma, larger


class SecondKernels(NamedTuple):
    """``classify``, ``loss_backward``, ``backward_from_logits`` and ``score`` for one width of rows."""

    classify: Callable[..., None]
    loss_backward: Callable[..., None]
    backward_from_logits: Callable[..., None]
    score: Callable[..., None]


@cache
def second_kernels(hidden: int, slots: int) -> SecondKernels:
    """Kernels for rows of (hidden, slots); they compile on their first call and are cached on disk."""
    return _compiled(hidden, slots, source_digest())


def _compiled(hidden: int, slots: int, sources: str) -> SecondKernels:
    width = hidden * slots

    @njit(nogil=True, cache=True)
    def classify(
        starts: Any, columns: Any, values: Any, rows: Any, active: Any, near: Any, own: Any, bias: Any, logits: Any
    ) -> None:
        """Logits (rows, classes, slots) of the listed nodes."""
        if len(sources) == 0:
            return
        classes = bias.shape[0]
        zero = zeros(bias, width)
        for r in range(len(rows)):
            received = gathered(starts, columns, values, rows[r], active, zero, width, hidden, slots)
            for c in range(classes):
                z = load(bias, c, slots) + fold(received * load(near, c, width), slots)
                if own.shape[0] > 0:
                    z = z + fold(load(active, rows[r], width) * load(own, c, width), slots)
                store(logits, r * classes + c, z)

    @njit(nogil=True, cache=True)
    def loss_backward(
        starts: Any,
        columns: Any,
        values: Any,
        rows: Any,
        targets: Any,
        active: Any,
        near: Any,
        own: Any,
        bias: Any,
        workspace: Any,
        message: Any,
        own_message: Any,
        near_gradient: Any,
        own_gradient: Any,
        bias_gradient: Any,
    ) -> None:
        """Mean cross-entropy with ``targets`` (rows, classes): gradients of the weights, messages back to the nodes."""
        if len(sources) == 0:
            return
        classes = bias.shape[0]
        count = targets.dtype.type(len(rows))
        zero = zeros(bias, width)
        for r in range(len(rows)):
            received = gathered(starts, columns, values, rows[r], active, zero, width, hidden, slots)
            own_row = load(active, rows[r], width)
            for c in range(classes):
                z = load(bias, c, slots) + fold(received * load(near, c, width), slots)
                if own.shape[0] > 0:
                    z = z + fold(own_row * load(own, c, width), slots)
                store(workspace, c, z)
            top = load(workspace, 0, slots)
            mass = targets[r, 0]
            for c in range(1, classes):
                top = larger(top, load(workspace, c, slots))
                mass += targets[r, c]
            total = zeros(bias, slots)
            for c in range(classes):
                share = exponential(load(workspace, c, slots) - top)
                store(workspace, c, share)
                total = total + share
            total = mass / total
            back = own_back = zero
            for c in range(classes):
                g = (load(workspace, c, slots) * total - targets[r, c]) / count
                store(bias_gradient, c, load(bias_gradient, c, slots) + g)
                wide = tile(g, hidden)
                back = fma(wide, load(near, c, width), back)
                store(near_gradient, c, fma(wide, received, load(near_gradient, c, width)))
                if own.shape[0] > 0:
                    own_back = fma(wide, load(own, c, width), own_back)
                    store(own_gradient, c, fma(wide, own_row, load(own_gradient, c, width)))
            store(message, r, back)
            if own.shape[0] > 0:
                store(own_message, r, own_back)

    @njit(nogil=True, cache=True)
    def backward_from_logits(
        starts: Any,
        columns: Any,
        values: Any,
        gradient: Any,
        active: Any,
        near: Any,
        own: Any,
        message: Any,
        own_message: Any,
        near_gradient: Any,
        own_gradient: Any,
        bias_gradient: Any,
    ) -> None:
        """The same from gradients (N, classes, slots) for the logits of all nodes."""
        if len(sources) == 0:
            return
        nodes, classes, _ = gradient.shape
        zero = zeros(gradient, width)
        for i in range(nodes):
            received = gathered(starts, columns, values, i, active, zero, width, hidden, slots)
            own_row = load(active, i, width)
            back = own_back = zero
            for c in range(classes):
                g = load(gradient, i * classes + c, slots)
                store(bias_gradient, c, load(bias_gradient, c, slots) + g)
                wide = tile(g, hidden)
                back = fma(wide, load(near, c, width), back)
                store(near_gradient, c, fma(wide, received, load(near_gradient, c, width)))
                if own.shape[0] > 0:
                    own_back = fma(wide, load(own, c, width), own_back)
                    store(own_gradient, c, fma(wide, own_row, load(own_gradient, c, width)))
            store(message, i, back)
            if own.shape[0] > 0:
                store(own_message, i, own_back)

    @njit(nogil=True, cache=True)
    def score(logits: Any, labels: Any, losses: Any, hits: Any) -> None:
        """Sums over the rows of cross-entropy and of right answers (the first of equal logits counts), per slot."""
        if len(sources) == 0:
            return
        rows, classes, _ = logits.shape
        one = logits.dtype.type(1)
        top, total = np.empty(slots, logits.dtype), np.empty(slots, logits.dtype)
        for r in range(rows):
            best = load(logits, r * classes, slots)
            for c in range(1, classes):
                best = larger(best, load(logits, r * classes + c, slots))
            mass = zeros(logits, slots)
            for c in range(classes):
                mass = mass + exponential(load(logits, r * classes + c, slots) - best)
            store(top, 0, best)
            store(total, 0, mass)
            for slot in range(slots):
                own = logits[r, labels[r], slot]
                losses[slot] += np.log(np.float64(total[slot])) + np.float64(top[slot] - own)
                hit = own == top[slot]
                for c in range(labels[r]):
                    hit = hit and logits[r, c, slot] < own
                hits[slot] += hit * one

    return SecondKernels(classify, loss_backward, backward_from_logits, score)
