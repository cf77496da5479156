"""Compiled passes over the nodes for the first layer: propagation, SELU with dropout, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from numba import njit

from tasks.curator.engine.kernels.gathering import gathered, source_digest
from tasks.curator.engine.kernels.nonlinear import selu, selu_slope
from tasks.curator.engine.kernels.vector_ops import load, load_interleaved, store, tile, zeros
from tasks.curator.engine.kernels.vectors import fma, where_above


class FirstKernels(NamedTuple):
    """``propagate``, ``add_outer``, ``add_outer_backward``, ``forward`` and ``backward`` for one width of rows."""

    propagate: Callable[..., None]
    add_outer: Callable[..., None]
    add_outer_backward: Callable[..., None]
    forward: Callable[..., None]
    backward: Callable[..., None]


@cache
def first_kernels(hidden: int, slots: int) -> FirstKernels:
    """Kernels for rows of (hidden, slots); they compile on their first call and are cached on disk."""
    return _compiled(hidden, slots, source_digest())


def _compiled(hidden: int, slots: int, sources: str) -> FirstKernels:
    width = hidden * slots

    @njit(nogil=True, cache=True)
    def propagate(starts: Any, columns: Any, values: Any, source: Any, out: Any) -> None:
        """out = A source, one row at a time."""
        if len(sources) == 0:
            return
        zero = zeros(out, width)
        for i in range(out.shape[0]):
            store(out, i, gathered(starts, columns, values, i, source, zero, width, hidden, slots))

    @njit(nogil=True, cache=True)
    def add_outer(scales: Any, constant: Any, out: Any) -> None:
        """Adds scales (N,) times one row to all rows."""
        if len(sources) == 0:
            return
        for i in range(out.shape[0]):
            store(out, i, fma(scales[i], load(constant, 0, width), load(out, i, width)))

    @njit(nogil=True, cache=True)
    def add_outer_backward(scales: Any, gradient: Any, constant_gradient: Any) -> None:
        """The gradient of that row."""
        if len(sources) == 0:
            return
        total = zeros(gradient, width)
        for i in range(gradient.shape[0]):
            total = fma(scales[i], load(gradient, i, width), total)
        store(constant_gradient, 0, total)

    @njit(nogil=True, cache=True)
    def forward(
        starts: Any,
        columns: Any,
        values: Any,
        source: Any,
        own: Any,
        row_scales: Any,
        constants: Any,
        bias: Any,
        ranks: Any,
        ages: Any,
        thresholds: Any,
        dropout_scale: Any,
        rank_rows: Any,
        active: Any,
        dropped: Any,
    ) -> None:
        """active = selu(A source + own + row_scales constants + bias), and the same with dropout."""
        if len(sources) == 0:
            return
        threshold = tile(load(thresholds, 0, slots), hidden)
        scale = tile(load(dropout_scale, 0, slots), hidden)
        nodes = active.shape[0]
        for i in range(nodes):
            total = load(bias, 0, width)
            for matrix in range(row_scales.shape[0]):
                total = fma(row_scales[matrix, i], load(constants, matrix, width), total)
            if own.shape[0] > 0:
                total = total + load(own, i, width)
            y = selu(gathered(starts, columns, values, i, source, total, width, hidden, slots))
            store(active, i, y)
            for slot in range(slots):
                rank_rows[slot] = ages[slot] * nodes + i
            rank = load_interleaved(ranks, rank_rows, hidden, slots)
            store(dropped, i, where_above(rank, threshold, y * scale))

    @njit(nogil=True, cache=True)
    def backward(
        starts: Any,
        columns: Any,
        values: Any,
        message: Any,
        row_of: Any,
        own_message: Any,
        active: Any,
        row_scales: Any,
        ranks: Any,
        ages: Any,
        thresholds: Any,
        dropout_scale: Any,
        rank_rows: Any,
        gradient: Any,
        bias_gradient: Any,
        constant_gradient: Any,
    ) -> None:
        """Gradient before the SELU of every node, and its sums for the bias and the constant features."""
        if len(sources) == 0:
            return
        threshold = tile(load(thresholds, 0, slots), hidden)
        scale = tile(load(dropout_scale, 0, slots), hidden)
        nodes = active.shape[0]
        total = zero = zeros(gradient, width)
        for i in range(nodes):
            g = gathered(starts, columns, values, i, message, zero, width, hidden, slots)
            if own_message.shape[0] > 0 and row_of[i] >= 0:
                g = g + load(own_message, row_of[i], width)
            for slot in range(slots):
                rank_rows[slot] = ages[slot] * nodes + i
            rank = load_interleaved(ranks, rank_rows, hidden, slots)
            g = where_above(rank, threshold, g * selu_slope(load(active, i, width)) * scale)
            store(gradient, i, g)
            total = total + g
            for matrix in range(row_scales.shape[0]):
                store(constant_gradient, matrix, fma(row_scales[matrix, i], g, load(constant_gradient, matrix, width)))
        store(bias_gradient, 0, total)

    return FirstKernels(propagate, add_outer, add_outer_backward, forward, backward)
