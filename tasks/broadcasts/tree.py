"""The cluster tree that the curator broadcasts: one leaf a vertex, every internal node with two children."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.errors import UserError
from tasks.reports.archive import array_text, read_arrays, refusals_name, text_array, write_arrays

VERSION = 1
_SPEC = {"version": ("int64", 1), "source": ("uint8", 1), "linkage": ("uint8", 1), "children": ("int32", 2)}


class TreeLayout(NamedTuple):
    """Paths and subtrees of the 2V-1 nodes; leaves are 0..V-1 and the root is 2V-2.

    Attributes:
        parent: int32 (2V-1,), -1 for the root.
        sibling: int32 (2V-1,), -1 for the root.
        depth: int32 (2V-1,), 0 for the root.
        first: int32 (2V-1,): a node's leaves are ``order[first : first + size]``.
        size: int32 (2V-1,), number of leaves below.
        order: int32 (V,), the leaves from left to right.
    """

    parent: NDArray[np.int32]
    sibling: NDArray[np.int32]
    depth: NDArray[np.int32]
    first: NDArray[np.int32]
    size: NDArray[np.int32]
    order: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ClusterTree:
    """A binary tree over the vertices.

    Attributes:
        source: what it was made from: ``"private"``, ``"paper"`` (the uploads behind it leak the graph) or
            ``"random"``.
        linkage: ``"balanced"``, ``"average"`` or ``"complete"``.
        children: int32 (V-1, 2); row i holds the children of node V+i, both with smaller numbers.

    Raises:
        UserError: when ``children`` is no such tree.
    """

    source: str
    linkage: str
    children: NDArray[np.int32]

    def __post_init__(self) -> None:
        children = self.children
        if children.dtype != np.int32 or children.ndim != 2 or children.shape[1] != 2 or not len(children):
            raise UserError("cluster tree: children must be int32 of shape (V-1, 2) for two vertices or more")
        parents = np.arange(self.leaves, 2 * self.leaves - 1)
        each_once = np.array_equal(np.sort(children, axis=None), np.arange(2 * self.leaves - 2))
        if not each_once or (children >= parents[:, None]).any():
            raise UserError("cluster tree: every node but the last must be a child once, of a later node")

    @property
    def leaves(self) -> int:
        """V."""
        return len(self.children) + 1

    @cached_property
    def layout(self) -> TreeLayout:
        """Paths and subtrees, computed once."""
        return TreeLayout(*_layout(self.children))

    @property
    def depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.layout.depth.max())

    def save(self, path: Path) -> None:
        """Writes the tree; equal trees give equal bytes."""
        write_arrays(
            path,
            {
                "version": np.array([VERSION], dtype=np.int64),
                "source": text_array(self.source),
                "linkage": text_array(self.linkage),
                "children": self.children,
            },
        )

    @classmethod
    def load(cls, path: Path) -> ClusterTree:
        """Reads what ``save`` wrote; UserError when it is damaged or of another version."""
        arrays = read_arrays(path, _SPEC)
        if arrays["version"].tolist() != [VERSION]:
            raise UserError(f"{path}: a cluster tree of another version; build the tree again")
        with refusals_name(path):
            return cls(array_text(arrays["source"], path), array_text(arrays["linkage"], path), arrays["children"])


@njit
def _layout(children):  # type: ignore[no-untyped-def]
    leaves = len(children) + 1
    nodes = 2 * leaves - 1
    parent = np.full(nodes, -1, dtype=np.int32)
    sibling = np.full(nodes, -1, dtype=np.int32)
    depth = np.zeros(nodes, dtype=np.int32)
    first = np.zeros(nodes, dtype=np.int32)
    size = np.ones(nodes, dtype=np.int32)
    order = np.empty(leaves, dtype=np.int32)
    for row in range(leaves - 1):
        left, right = children[row]
        parent[left] = parent[right] = leaves + row
        sibling[left], sibling[right] = right, left
        size[leaves + row] = size[left] + size[right]
    for row in range(leaves - 2, -1, -1):
        left, right = children[row]
        depth[left] = depth[right] = depth[leaves + row] + 1
        first[left] = first[leaves + row]
        first[right] = first[left] + size[left]
    for leaf in range(leaves):
        order[first[leaf]] = leaf
    return parent, sibling, depth, first, size, order
