"""Adam (Kingma & Ba, ICLR 2015) over stacked weights, fused with the last product of the backward pass.

As in ``torch.optim.Adam``: weight decay is added to the gradient, betas 0.9 and 0.999, epsilon 1e-8. The gradient of a
row of the first layer's weights is used as soon as it is summed and never stored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from numba import njit

from tasks.curator.engine.kernels.gathering import gathered, source_digest
from tasks.curator.engine.kernels.vector_ops import load, store, tile, zeros
from tasks.curator.engine.kernels.vectors import fma, root


class AdamKernels(NamedTuple):
    """``step_weights`` for a matrix of the first layer, ``step_rest`` for all other weights."""

    step_weights: Callable[..., None]
    step_rest: Callable[..., None]


@njit(inline="always")
def _moved(w: Any, m: Any, v: Any, g: Any, rate: Any, decay: Any, correction: Any) -> Any:
    g = fma(decay, w, g)
    m = fma(g - m, 0.1, m)
    v = fma(v, 0.999, (g * g) * 0.001)
    return w - rate * m / fma(root(v), correction, 1e-8), m, v


@cache
def adam_kernels(hidden: int, slots: int) -> AdamKernels:
    """Kernels for rows of (hidden, slots); they compile on their first call and are cached on disk."""
    return _compiled(hidden, slots, source_digest())


def _compiled(hidden: int, slots: int, sources: str) -> AdamKernels:
    width = hidden * slots

    @njit(nogil=True, cache=True)
    def step_weights(
        starts: Any,
        columns: Any,
        values: Any,
        gradient: Any,
        constant: Any,
        constant_gradient: Any,
        step: Any,
        weight: Any,
        first: Any,
        second: Any,
        column_sum: Any,
    ) -> None:
        """One step with the gradient A gradient + constant constant_gradient; leaves constant times the column sums.

        ``step`` (3, slots) holds rate/(1 - 0.9^t), weight decay and 1/sqrt(1 - 0.999^t).
        """
        if len(sources) == 0:
            return
        rate, decay = tile(load(step, 0, slots), hidden), tile(load(step, 1, slots), hidden)
        correction = tile(load(step, 2, slots), hidden)
        rest = load(constant_gradient, 0, width) * constant
        total = zeros(weight, width)
        for row in range(weight.shape[0]):
            g = gathered(starts, columns, values, row, gradient, rest, width, hidden, slots)
            moved = _moved(
                load(weight, row, width), load(first, row, width), load(second, row, width), g, rate, decay, correction
            )
            store(weight, row, moved[0])
            store(first, row, moved[1])
            store(second, row, moved[2])
            total = total + moved[0]
        store(column_sum, 0, total * constant)

    @njit(nogil=True, cache=True)
    def step_rest(gradient: Any, step: Any, weight: Any, first: Any, second: Any) -> None:
        """One step for weights (rows, slots); the gradient is cleared for the next sum."""
        if len(sources) == 0:
            return
        rate, decay, correction = load(step, 0, slots), load(step, 1, slots), load(step, 2, slots)
        for row in range(weight.shape[0]):
            g = load(gradient, row, slots)
            moved = _moved(
                load(weight, row, slots), load(first, row, slots), load(second, row, slots), g, rate, decay, correction
            )
            store(weight, row, moved[0])
            store(first, row, moved[1])
            store(second, row, moved[2])
            store(gradient, row, zeros(gradient, slots))

    return AdamKernels(step_weights, step_rest)
