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
    """``classify``, ``teach``, ``carry`` and ``judge`` for one width of rows."""

    classify: Callable[..., None]
    teach: Callable[..., None]
    carry: Callable[..., None]
    judge: Callable[..., None]


@cache
def second_kernels(hidden: int, lanes: int) -> SecondKernels:
    """Kernels for rows of (hidden, lanes); they compile on their first call and are cached on disk."""
    return _compiled(hidden, lanes, source_digest())


def _compiled(hidden: int, lanes: int, sources: str) -> SecondKernels:
    width = hidden * lanes

    @njit(nogil=True, cache=True)
    def classify(
        starts: Any, columns: Any, values: Any, rows: Any, active: Any, near: Any, own: Any, bias: Any, logits: Any
    ) -> None:
        """Logits (rows, classes, lanes) of the listed nodes."""
        if len(sources) == 0:
            return
        classes = bias.shape[0]
        zero = zeros(bias, width)
        for r in range(len(rows)):
            received = gathered(starts, columns, values, rows[r], active, zero, width, hidden, lanes)
            for c in range(classes):
                z = load(bias, c, lanes) + fold(received * load(near, c, width), lanes)
                if own.shape[0] > 0:
                    z = z + fold(load(active, rows[r], width) * load(own, c, width), lanes)
                store(logits, r * classes + c, z)

    @njit(nogil=True, cache=True)
    def teach(
        starts: Any,
        columns: Any,
        values: Any,
        rows: Any,
        targets: Any,
        active: Any,
        near: Any,
        own: Any,
        bias: Any,
        room: Any,
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
            received = gathered(starts, columns, values, rows[r], active, zero, width, hidden, lanes)
            kept = load(active, rows[r], width)
            for c in range(classes):
                z = load(bias, c, lanes) + fold(received * load(near, c, width), lanes)
                if own.shape[0] > 0:
                    z = z + fold(kept * load(own, c, width), lanes)
                store(room, c, z)
            top = load(room, 0, lanes)
            mass = targets[r, 0]
            for c in range(1, classes):
                top = larger(top, load(room, c, lanes))
                mass += targets[r, c]
            total = zeros(bias, lanes)
            for c in range(classes):
                share = exponential(load(room, c, lanes) - top)
                store(room, c, share)
                total = total + share
            total = mass / total
            back = own_back = zero
            for c in range(classes):
                g = (load(room, c, lanes) * total - targets[r, c]) / count
                store(bias_gradient, c, load(bias_gradient, c, lanes) + g)
                wide = tile(g, hidden)
                back = fma(wide, load(near, c, width), back)
                store(near_gradient, c, fma(wide, received, load(near_gradient, c, width)))
                if own.shape[0] > 0:
                    own_back = fma(wide, load(own, c, width), own_back)
                    store(own_gradient, c, fma(wide, kept, load(own_gradient, c, width)))
            store(message, r, back)
            if own.shape[0] > 0:
                store(own_message, r, own_back)

    @njit(nogil=True, cache=True)
    def carry(
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
        """The same from gradients (N, classes, lanes) for the logits of all nodes."""
        if len(sources) == 0:
            return
        nodes, classes, _ = gradient.shape
        zero = zeros(gradient, width)
        for i in range(nodes):
            received = gathered(starts, columns, values, i, active, zero, width, hidden, lanes)
            kept = load(active, i, width)
            back = own_back = zero
            for c in range(classes):
                g = load(gradient, i * classes + c, lanes)
                store(bias_gradient, c, load(bias_gradient, c, lanes) + g)
                wide = tile(g, hidden)
                back = fma(wide, load(near, c, width), back)
                store(near_gradient, c, fma(wide, received, load(near_gradient, c, width)))
                if own.shape[0] > 0:
                    own_back = fma(wide, load(own, c, width), own_back)
                    store(own_gradient, c, fma(wide, kept, load(own_gradient, c, width)))
            store(message, i, back)
            if own.shape[0] > 0:
                store(own_message, i, own_back)

    @njit(nogil=True, cache=True)
    def judge(logits: Any, labels: Any, losses: Any, hits: Any) -> None:
        """Sums over the rows of cross-entropy and of right answers (the first of equal logits counts), per lane."""
        if len(sources) == 0:
            return
        rows, classes, _ = logits.shape
        one = logits.dtype.type(1)
        top, total = np.empty(lanes, logits.dtype), np.empty(lanes, logits.dtype)
        for r in range(rows):
            best = load(logits, r * classes, lanes)
            for c in range(1, classes):
                best = larger(best, load(logits, r * classes + c, lanes))
            mass = zeros(logits, lanes)
            for c in range(classes):
                mass = mass + exponential(load(logits, r * classes + c, lanes) - best)
            store(top, 0, best)
            store(total, 0, mass)
            for lane in range(lanes):
                own = logits[r, labels[r], lane]
                losses[lane] += np.log(np.float64(total[lane])) + np.float64(top[lane] - own)
                hit = own == top[lane]
                for c in range(labels[r]):
                    hit = hit and logits[r, c, lane] < own
                hits[lane] += hit * one

    return SecondKernels(classify, teach, carry, judge)
