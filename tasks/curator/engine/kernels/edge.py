"""Compiled passes over edges whose weights differ between the models of a block (Solitude, eq. 14).

Entries of P lie in rows of ``slots``. P follows from the weights w by the rule of ``propagation_matrix``, and a
gradient for P becomes one for w through the degrees too: d_i is the sum of row i, for GCN with its self-loop of one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from numba import njit

from tasks.curator.engine.kernels.gathering import source_digest
from tasks.curator.engine.kernels.vector_ops import fold, load, store, zeros
from tasks.curator.engine.kernels.vectors import fma, larger, root, where_positive


class EdgeKernels(NamedTuple):
    """``normalise``, ``differentiate``, ``step`` and ``permute`` for one width of rows."""

    normalise: Callable[..., None]
    differentiate: Callable[..., None]
    step: Callable[..., None]
    permute: Callable[..., None]


@cache
def edge_kernels(hidden: int, slots: int) -> EdgeKernels:
    """Kernels for rows of (hidden, slots); they compile on their first call and are cached on disk."""
    return _compiled(hidden, slots, source_digest())


def _compiled(hidden: int, slots: int, sources: str) -> EdgeKernels:
    width = hidden * slots

    @njit(nogil=True, cache=True)
    def normalise(
        starts: Any, columns: Any, weights: Any, diagonal: Any, symmetric: bool, degrees: Any, values: Any
    ) -> None:
        """P from the weights; ``diagonal`` is the index of each node's own entry, which stands in for an empty row."""
        if len(sources) == 0:
            return
        nodes = degrees.shape[0]
        for i in range(nodes):
            total = zeros(weights, slots)
            for entry in range(starts[i], starts[i + 1]):
                total = total + load(weights, entry, slots)
            store(degrees, i, where_positive(total, total, 1.0))
            if not symmetric:
                for entry in range(starts[i], starts[i + 1]):
                    store(values, entry, load(weights, entry, slots) / load(degrees, i, slots))
                own = load(values, diagonal[i], slots)
                store(values, diagonal[i], where_positive(total, own, 1.0))
        if symmetric:
            for i in range(nodes):
                store(degrees, i, root(load(degrees, i, slots)))
            for i in range(nodes):
                for entry in range(starts[i], starts[i + 1]):
                    scale = load(degrees, i, slots) * load(degrees, columns[entry], slots)
                    store(values, entry, load(weights, entry, slots) / scale)
            for i in range(nodes):
                store(degrees, i, load(degrees, i, slots) * load(degrees, i, slots))

    @njit(nogil=True, cache=True)
    def differentiate(
        starts: Any,
        columns: Any,
        values: Any,
        symmetric: bool,
        degrees: Any,
        before: Any,
        projected: Any,
        row_of: Any,
        message: Any,
        active: Any,
        pull: Any,
        gradient: Any,
    ) -> None:
        """Gradient for every weight, from both layers.

        ``before`` (N, hidden, slots) is the gradient before the first layer's SELU, where ``projected`` arrived by P;
        ``message`` that of the second layer's received values, where ``active`` arrived. ``pull`` is a buffer
        (N, slots).
        """
        if len(sources) == 0:
            return
        nodes = degrees.shape[0]
        for i in range(nodes):
            store(pull, i, zeros(pull, slots))
        for i in range(nodes):
            first, sends = load(before, i, width), row_of[i] >= 0
            back = load(message, row_of[i] if sends else 0, width)
            for entry in range(starts[i], starts[i + 1]):
                j = columns[entry]
                both = first * load(projected, j, width)
                if sends:
                    both = fma(back, load(active, j, width), both)
                g = fold(both, slots)
                store(gradient, entry, g)
                share = g * load(values, entry, slots)
                store(pull, i, load(pull, i, slots) + share)
                if symmetric:
                    store(pull, j, load(pull, j, slots) + share)
        for i in range(nodes):
            degree = load(degrees, i, slots)
            by_degree = load(pull, i, slots) / degree * (0.5 if symmetric else 1.0)
            for entry in range(starts[i], starts[i + 1]):
                scale = degree
                if symmetric:
                    scale = root(degree) * root(load(degrees, columns[entry], slots))
                store(gradient, entry, load(gradient, entry, slots) / scale - by_degree)

    @njit(nogil=True, cache=True)
    def step(learned: Any, reported: Any, gradient: Any, sizes: Any, weights: Any) -> None:
        """One proximal step of the learned entries; ``sizes`` (3, slots): step size, lambda1, lambda2."""
        if len(sources) == 0:
            return
        size, distance, sparsity = load(sizes, 0, slots), load(sizes, 1, slots), load(sizes, 2, slots)
        for k in range(len(learned)):
            w = load(weights, learned[k], slots)
            slope = load(gradient, learned[k], slots) + 2.0 * distance * (w - reported[k])
            moved = w - size * slope - size * sparsity
            store(weights, learned[k], where_positive(moved - 1.0, 1.0, larger(0.0, moved)))

    @njit(nogil=True, cache=True)
    def permute(source: Any, order: Any, out: Any) -> None:
        """Rows of ``slots`` in another order."""
        if len(sources) == 0:
            return
        for k in range(len(order)):
            store(out, k, load(source, order[k], slots))

    return EdgeKernels(normalise, differentiate, step, permute)
