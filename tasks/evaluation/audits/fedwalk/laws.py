"""Trees that FedWalk's encoder is audited on, and the claimed law on them, computed from its definition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tasks.broadcasts.tree import ClusterTree
from tasks.seeds import generator


def balanced_tree(depth: int) -> ClusterTree:
    """2^depth leaves in their order."""
    children = np.arange(2 * (2**depth - 1), dtype=np.int32).reshape(-1, 2)
    return ClusterTree("random", "balanced", children)


def one_sided_tree(leaves: int) -> ClusterTree:
    """Leaf 0 deepest, the last leaf below the root."""
    children = [(0, 1), *((leaves + row - 1, row + 1) for row in range(1, leaves - 1))]
    return ClusterTree("random", "average", np.array(children, dtype=np.int32))


def uneven_tree(leaves: int) -> ClusterTree:
    """Two of the nodes that have no parent yet are joined at random, until one is left."""
    rng, roots, children = generator(leaves), list(range(leaves)), []
    for node in range(leaves, 2 * leaves - 1):
        children.append([roots.pop(int(rng.integers(len(roots)))) for _ in range(2)])
        roots.append(node)
    return ClusterTree("random", "average", np.array(children, dtype=np.int32))


def levels_from(tree: ClusterTree, vertex: int) -> NDArray[np.int64]:
    """rho(vertex, w) for every leaf w: the level of their lowest common ancestor, or 0 for itself."""
    layout, levels, node = tree.layout, np.zeros(tree.leaves, dtype=np.int64), vertex
    while layout.parent[node] >= 0:
        beside = layout.sibling[node]
        below = layout.order[layout.first[beside] : layout.first[beside] + layout.size[beside]]
        node = layout.parent[node]
        levels[below] = tree.depth - layout.depth[node]
    return levels


def log_law(tree: ClusterTree, epsilon: float, vertex: int) -> NDArray[np.float64]:
    """ln Q(w | vertex) for every leaf w."""
    weights = -epsilon * levels_from(tree, vertex)
    return weights - np.log(np.exp(weights).sum())


def vertex_pairs(tree: ClusterTree, epsilon: float) -> NDArray[np.int64]:
    """(kinds, 2): first the two leaves that the law tells apart best, then near ones, outer ones and some at random.

    That is: on either side of the root, a leaf that is sent as it is most often, and one that is least often.
    """
    layout = tree.layout
    side = layout.order[: layout.size[tree.children[-1][0]]]
    other = np.setdiff1d(np.arange(tree.leaves), side)
    kept = np.array([log_law(tree, epsilon, leaf)[leaf] for leaf in range(tree.leaves)])
    candidates = [(a[kept[a].argmax()], b[kept[b].argmin()]) for a, b in ((side, other), (other, side))]
    worst = max(candidates, key=lambda pair: kept[pair[0]] - kept[pair[1]])
    near = layout.order[:2]
    outer = (0, tree.leaves - 1)
    random = [generator(k).choice(tree.leaves, 2, replace=False) for k in range(4)]
    return np.array([worst[::-1], near, outer, *random])
