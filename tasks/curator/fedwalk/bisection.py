"""The balanced tree: recursive bisection by two distant pivots, about 2 V log2 V distances instead of V^2 / 2.

At every node a pivot x is drawn; y is the vertex at the 90th percentile of d(x, .), so that an outlier is not the
pole. The vertices are ordered by d(x, .) - d(y, .) and cut at the median: no leaf is deeper than ceil(log2 V).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.counter_draws import below, draw_key, stream
from tasks.curator.fedwalk.dtw import distance, workspace
from tasks.curator.fedwalk.ordered_matrices import OrderedMatrices

FAR = 0.9


def balanced_children(matrices: OrderedMatrices, rng: np.random.Generator) -> NDArray[np.int32]:
    """The ``children`` of a ``ClusterTree``, int32 (V-1, 2)."""
    return _bisected(matrices, draw_key(rng), workspace(matrices))


@njit(nogil=True)
def _bisected(matrices, key, work):  # type: ignore[no-untyped-def]
    vertices = len(matrices.lengths)
    order = np.arange(vertices)
    near, far = np.empty(vertices), np.empty(vertices)
    children = np.empty((vertices - 1, 2), dtype=np.int32)
    # Internal nodes are numbered from the root (2V-2) downwards as they are met, so children come out smaller.
    segments = [(0, vertices, 2 * vertices - 2)]
    unused = 2 * vertices - 3
    draws = stream(key, 0)
    while segments:
        first, last, node = segments.pop()
        members = order[first:last]
        size = last - first
        pivot = members[below(draws, node, size)]
        for index in range(size):
            near[index] = distance(matrices, pivot, members[index], work)
        other = members[np.argsort(near[:size], kind="mergesort")[int(FAR * (size - 1) + 0.5)]]
        for index in range(size):
            far[index] = near[index] - distance(matrices, other, members[index], work)
        order[first:last] = members[np.argsort(far[:size], kind="mergesort")]
        middle = first + (size + 1) // 2
        for side, (low, high) in enumerate(((first, middle), (middle, last))):
            if high - low == 1:
                children[node - vertices, side] = order[low]
            else:
                children[node - vertices, side] = unused
                segments.append((low, high, unused))
                unused -= 1
    return children
