"""Neighbour lists as the devices hold them: every neighbour once, never oneself, in both lists or in neither."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.errors import UserError


class NeighbourLists(NamedTuple):
    """All lists in compressed rows; device v sees row v only.

    Attributes:
        indptr: int64 (V+1,).
        indices: int32 (2E,), strictly increasing within a row.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    @property
    def nodes(self) -> int:
        """V."""
        return len(self.indptr) - 1

    @property
    def degrees(self) -> NDArray[np.int64]:
        """int64 (V,)."""
        return np.diff(self.indptr)

    def of(self, vertex: int) -> NDArray[np.int32]:
        """The list of one device."""
        return self.indices[self.indptr[vertex] : self.indptr[vertex + 1]]


def neighbour_lists(adjacency: csr_array, *, dataset: str) -> NeighbourLists:
    """The lists behind an adjacency matrix; entries stored twice count once and self-loops are dropped.

    Raises:
        UserError: for a matrix that is not square and symmetric, with under two vertices or without an edge.
    """
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1] or adjacency.shape[0] < 2:
        raise UserError(f"{dataset}: FedWalk needs a square adjacency of two vertices or more, not {adjacency.shape}")
    nodes = adjacency.shape[0]
    entries = adjacency.tocoo()
    heads, tails = (np.asarray(side, dtype=np.int64) for side in entries.coords)
    mask = (heads != tails) & (entries.data != 0)
    keys = np.sort(heads[mask] * nodes + tails[mask])
    keys = keys[np.diff(keys, prepend=-1) > 0]  # np.unique is many times slower on millions of entries
    heads, tails = keys // nodes, keys % nodes
    if not len(keys):
        raise UserError(f"{dataset}: the graph has no edge between two vertices; FedWalk has nowhere to walk")
    if not np.array_equal(keys, np.sort(tails * nodes + heads)):
        raise UserError(
            f"{dataset}: an edge stands in one list only; FedWalk needs both ends to know it: add the other"
        )
    indptr = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(heads, minlength=nodes), out=indptr[1:])
    return NeighbourLists(indptr, tails.astype(np.int32))
