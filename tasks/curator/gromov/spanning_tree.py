"""The basis of a transportation problem: a rooted spanning tree of sources and sinks.

Sources are the nodes 0..n-1 and sinks the nodes n..n+m-1. Every edge of the tree is a basic cell; its flow is stored at
the lower end. Masses are integers: a source's is ``(mass << shift) + 1`` and one sink takes up the n extra units. No
proper part of such a problem balances, hence every basis is non-degenerate and no pivot can cycle (Orden's
perturbation). ``(flow + half) >> shift`` gives the flow of the unperturbed problem back, exactly.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint32

Node = int | np.uint32
UNBOUNDED = 2**62


NODE = np.dtype(
    [
        ("parent", np.uint32),
        ("child", np.uint32),  # the first one
        ("following", np.uint32),  # the next sibling
        ("previous", np.uint32),  # the previous sibling
        ("depth", np.int64),
        ("flow", np.int64),  # on the edge to the parent
    ]
)  # N + 1 records make a tree of N = n + m nodes; N itself means "none"


@njit(nogil=True)
def attach(tree: np.ndarray, node: Node, parent: Node, none: int) -> None:
    """Make ``node`` the first child of ``parent``."""
    first = tree[parent].child
    tree[node].parent = parent
    tree[node].following = first
    tree[node].previous = none
    if first != none:
        tree[first].previous = node
    tree[parent].child = node


@njit(nogil=True)
def detach(tree: np.ndarray, node: Node, none: int) -> None:
    """Take ``node`` out of its parent's list of children."""
    before = tree[node].previous
    after = tree[node].following
    if before == none:
        tree[tree[node].parent].child = after
    else:
        tree[before].following = after
    if after != none:
        tree[after].previous = before


@njit(nogil=True)
def next_in_subtree(tree: np.ndarray, node: Node, top: Node, none: int) -> Node:
    """The node after ``node`` in a preorder walk below ``top``, or ``none`` at its end."""
    below = tree[node].child
    if below != none:
        return below
    while node != top and tree[node].following == none:
        node = tree[node].parent
    return uint32(none) if node == top else tree[node].following


@njit(nogil=True)
def northwest_tree(
    tree: np.ndarray, order1: np.ndarray, order2: np.ndarray, supply: np.ndarray, demand: np.ndarray
) -> Node:
    """Fill ``tree`` by the north-west corner rule along two orders; return its root.

    With both sides sorted this is the monotone coupling, which maximises the sum of ``x_i y_j T_ij``.
    """
    n = len(order1)
    m = len(order2)
    none = n + m
    for node in range(none + 1):
        tree[node].child = none
        tree[node].following = none
        tree[node].previous = none
    i = 0
    j = 0
    source = order1[0]
    sink = uint32(n + order2[0])
    root = source
    tree[root].parent = none
    left = supply[source]
    wanted = demand[order2[0]]
    node = sink
    parent = source
    while True:
        attach(tree, node, parent, none)
        sent = min(left, wanted)
        tree[node].flow = sent
        left -= sent
        wanted -= sent
        if i == n - 1 and j == m - 1:
            return root
        if left == 0:
            i += 1
            source = order1[i]
            left = supply[source]
            node = source
            parent = sink
        else:
            j += 1
            sink = uint32(n + order2[j])
            wanted = demand[order2[j]]
            node = sink
            parent = source


@njit(nogil=True)
def refresh_potentials(tree: np.ndarray, potential: np.ndarray, root: Node, gain: np.ndarray) -> None:
    """Depths, and potentials with ``gain[i, j] = potential[i] + potential[n + j]`` on every edge of the tree."""
    n, m = gain.shape
    none = n + m
    potential[root] = 0.0
    tree[root].depth = 0
    node = next_in_subtree(tree, root, root, none)
    while node != none:
        parent = tree[node].parent
        tree[node].depth = tree[parent].depth + 1
        value = gain[node, parent - n] if node < n else gain[parent, node - n]
        potential[node] = value - potential[parent]
        node = next_in_subtree(tree, node, root, none)


@njit(nogil=True)
def leaving_edge(tree: np.ndarray, source: Node, sink: Node) -> tuple[Node, bool, int, Node]:
    """The edge that blocks the cycle closed by (source, sink): its lower end, whether on the source's side, its flow.

    Going up from either end, every other edge loses what the entering cell gains, the first one included.
    """
    x = source
    y = sink
    depth_x = tree[x].depth
    depth_y = tree[y].depth
    least = UNBOUNDED
    leaving = x
    on_source_side = True
    x_loses = True
    y_loses = True
    while x != y:
        if depth_x >= depth_y:
            if x_loses and tree[x].flow < least:
                least = tree[x].flow
                leaving = x
                on_source_side = True
            x_loses = not x_loses
            x = tree[x].parent
            depth_x -= 1
        else:
            if y_loses and tree[y].flow < least:
                least = tree[y].flow
                leaving = y
                on_source_side = False
            y_loses = not y_loses
            y = tree[y].parent
            depth_y -= 1
    return leaving, on_source_side, least, x


@njit(nogil=True)
def push(tree: np.ndarray, start: Node, join: Node, amount: int) -> None:
    """Change the flows from ``start`` up to ``join`` by -amount, +amount, -amount, ..."""
    while start != join:
        amount = -amount
        tree[start].flow += amount
        start = tree[start].parent


@njit(nogil=True)
def pivot(tree: np.ndarray, potential: np.ndarray, source: Node, sink: Node, reduced: float, n: int, none: int) -> None:
    """Bring the cell (source, sink) of reduced gain ``reduced`` into the basis."""
    leaving, on_source_side, amount, join = leaving_edge(tree, source, sink)
    push(tree, source, join, amount)
    push(tree, sink, join, amount)
    top = source if on_source_side else sink
    parent = sink if on_source_side else source
    node = top
    flow = amount
    while True:  # turn the path from the entering cell to the leaving edge upside down
        old_parent = tree[node].parent
        old_flow = tree[node].flow
        detach(tree, node, none)
        attach(tree, node, parent, none)
        tree[node].flow = flow
        if node == leaving:
            break
        flow = old_flow
        parent = node
        node = old_parent
    change = reduced if on_source_side else -reduced
    node = top
    while node != none:
        potential[node] += change if node < n else -change
        tree[node].depth = tree[tree[node].parent].depth + 1
        node = next_in_subtree(tree, node, top, none)
