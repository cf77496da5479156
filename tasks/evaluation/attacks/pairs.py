"""The pairs that an attack on edges is judged by: every true edge and as many pairs without one.

Reads the truth, so it is for public data sets alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, triu

from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.attacks.privacy import refuse_private


@dataclass(frozen=True, eq=False)
class PairSample:
    """Pairs of nodes.

    Attributes:
        heads, tails: int64 (2E,), the lower id first.
        edge: bool (2E,), whether the pair is a true edge.
    """

    heads: NDArray[np.int64]
    tails: NDArray[np.int64]
    edge: NDArray[np.bool_]

    def values(self, matrix: csr_array) -> NDArray[np.float64]:
        """The entries (head, tail) of an (N, N) matrix, zeros where nothing is stored."""
        return entries(matrix, self.heads, self.tails)


def sample_pairs(graph: RawGraph, rng: np.random.Generator) -> PairSample:
    """All E edges and E distinct pairs without an edge, uniformly at random.

    Raises:
        UserError: for a private data set, a graph without edges, or one with fewer other pairs than edges.
    """
    refuse_private(graph.name, graph.private)
    nodes, edges = graph.nodes, graph.edges
    if not 0 < edges <= nodes * (nodes - 1) // 4:
        raise UserError(f"{graph.name}: edge inference needs edges, and as many pairs without one")
    heads, tails = triu(graph.adjacency, 1, format="coo").coords
    known = np.sort(heads.astype(np.int64) * nodes + tails)
    chosen = np.empty(0, dtype=np.int64)
    while len(chosen) < edges:
        first, second = rng.integers(nodes, size=(2, 2 * edges))
        keys = np.minimum(first, second) * nodes + np.maximum(first, second)
        fresh = keys[(first != second) & ~np.isin(keys, known)]
        every = np.concatenate([chosen, fresh])
        _, places = np.unique(every, return_index=True)
        chosen = every[np.sort(places)][:edges]
    keys = np.concatenate([known, chosen])
    return PairSample(keys // nodes, keys % nodes, np.arange(2 * edges) < edges)


def entries(matrix: csr_array, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """float64 (k,): the entries at (rows, columns) of a matrix in sorted rows, zeros where nothing is stored."""
    if not matrix.nnz:
        return np.zeros(len(rows))
    width = matrix.shape[1]
    stored = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr)) * width + matrix.indices
    wanted = rows.astype(np.int64) * width + columns
    places = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
    return np.where(stored[places] == wanted, matrix.data[places], 0).astype(np.float64)
