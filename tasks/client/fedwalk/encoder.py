"""The sequence encoder: a vertex is replaced by another one, rarely by one that is far away in the public tree.

Law: v becomes w with probability e^(-epsilon * rho(v, w)) / Z_v. For v != w, rho is the level of their lowest
common ancestor, counted from the deepest leaf: the tree's depth minus the ancestor's. With rho(v, v) = 0 it is an
ultrametric, so by the triangle inequality

    Q(x | v) / Q(x | v') <= e^(epsilon * rho(v, v')) * Z_v' / Z_v,

metric privacy on the tree (Chatzikokolakis et al., PETS 2013) up to the ratio of the normalisers. The published
text (Pan and Zhu, KDD 2022) leaves the law open; this is our reading.

Sampler: all leaves below the sibling of an ancestor-or-self of v have the same rho, so Z_v is a sum over the
path to the root. One draw says how far to climb, a second picks a leaf there: O(depth), and most draws stop at v.

Exactness. Not exact: weights and sums are float64 and a draw is a multiple of 2^-53, so the probability of every level
is off by at most (depth + 2) 2^-53 of the whole. A level that is less likely than that may never be drawn from one
vertex and be drawn from another: the bound on the ratio holds up to a delta of (depth + 2) 2^-52 a release, about
5e-15 at depth 20. Such levels exist from epsilon * depth = 35 on, where the bound itself says next to nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.broadcasts.tree import ClusterTree, TreeLayout
from tasks.epsilon import INFINITE, epsilon_value


class Encoder(NamedTuple):
    """What a device needs to encode: the public tree and quantities computed from it.

    Attributes:
        identity: True at epsilon ``"inf"``.
        tree: the broadcast tree's layout.
        decay: float64 (depth+1,): e^(-epsilon * level) of ancestors by their depth.
        normaliser: float64 (V,): Z_v.
    """

    identity: bool
    tree: TreeLayout
    decay: NDArray[np.float64]
    normaliser: NDArray[np.float64]


def encoder_for(tree: ClusterTree, epsilon: str) -> Encoder:
    """The encoder of a canonical budget per level of the tree; ``"inf"`` leaves every vertex as it is."""
    layout = tree.layout
    levels = tree.depth - np.arange(tree.depth + 1, dtype=np.float64)
    if epsilon == INFINITE:
        return Encoder(True, layout, np.zeros_like(levels), np.ones(tree.leaves))
    decay = np.exp(-epsilon_value(epsilon) * levels)
    return Encoder(False, layout, decay, _normalisers(layout, decay))


@njit
def encode(encoder: Encoder, vertex: int, climb: float, pick: float) -> int:
    """The encoding of ``vertex``, from two uniform draws in [0, 1)."""
    tree = encoder.tree
    rest = climb * encoder.normaliser[vertex] - 1.0
    if encoder.identity or rest < 0.0:
        return vertex
    node = vertex
    while True:
        above, beside = tree.parent[node], tree.sibling[node]
        leaves = tree.size[beside]
        rest -= leaves * encoder.decay[tree.depth[above]]
        # Rounding may leave a remainder at the root: it belongs to the last term.
        if rest < 0.0 or tree.parent[above] < 0:
            return tree.order[tree.first[beside] + int(pick * leaves)]
        node = above


@njit
def _normalisers(tree: TreeLayout, decay: NDArray[np.float64]) -> NDArray[np.float64]:
    leaves = len(tree.order)
    total = np.ones(2 * leaves - 1)
    # From the root down: a node's sum over its path is its parent's plus one term.
    for node in range(2 * leaves - 3, -1, -1):
        above = tree.parent[node]
        total[node] = total[above] + tree.size[tree.sibling[node]] * decay[tree.depth[above]]
    return total[:leaves]
