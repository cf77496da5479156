"""Many small graphs one after another in flat arrays, and any choice of them without a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from tasks.errors import UserError


@dataclass(frozen=True, eq=False)
class GraphStack:
    """G graphs with N nodes in all.

    Attributes:
        node_counts: int64 (G,).
        degrees: int64 (N,).
        neighbours: int64 (sum of degrees,), every node's list one after another, numbered within its own graph.
        features: float32 (N, d).
    """

    node_counts: NDArray[np.int64]
    degrees: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    features: csr_array

    @property
    def graphs(self) -> int:
        """G."""
        return len(self.node_counts)

    @property
    def nodes(self) -> int:
        """N."""
        return len(self.degrees)

    @property
    def starts(self) -> NDArray[np.int64]:
        """int64 (G,), the number of each graph's first node."""
        return np.cumsum(self.node_counts) - self.node_counts

    def nodes_of(self, graphs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of the nodes of the given graphs, in their order."""
        return _ranges(self.starts[graphs], self.node_counts[graphs])

    def subset(self, graphs: NDArray[np.int64]) -> GraphStack:
        """The given graphs, in their order."""
        nodes = self.nodes_of(graphs)
        first = np.cumsum(self.degrees) - self.degrees
        entries = _ranges(first[nodes], self.degrees[nodes])
        return GraphStack(self.node_counts[graphs], self.degrees[nodes], self.neighbours[entries], self.features[nodes])

    def adjacency(self) -> csr_array:
        """Block-diagonal float64 (N, N)."""
        first_node = np.repeat(np.repeat(self.starts, self.node_counts), self.degrees)
        indptr = np.concatenate([[0], np.cumsum(self.degrees)])
        ones = np.ones(len(self.neighbours))
        return csr_array((ones, self.neighbours + first_node, indptr), shape=(self.nodes, self.nodes))


def stack_graphs(adjacencies: Sequence[csr_array], features: Sequence[csr_array]) -> GraphStack:
    """Stacks graphs (n, n) with features (n, d) of one width.

    Raises:
        UserError: for no graphs, or one without nodes or features.
    """
    if not adjacencies:
        raise UserError("there are no graphs to train on or to embed")
    for position, (adjacency, rows) in enumerate(zip(adjacencies, features, strict=True)):
        if not adjacency.shape[0] or rows.shape != (adjacency.shape[0], features[0].shape[1]):
            raise UserError(f"graph {position} has no nodes, or not a row of features for each; remove or complete it")
    return GraphStack(
        node_counts=np.array([adjacency.shape[0] for adjacency in adjacencies], dtype=np.int64),
        degrees=np.concatenate([np.diff(adjacency.indptr) for adjacency in adjacencies]).astype(np.int64),
        neighbours=np.concatenate([adjacency.indices for adjacency in adjacencies]).astype(np.int64),
        features=csr_array(vstack(features, format="csr"), dtype=np.float32),
    )


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """start, start + 1, ... for every pair, one after another."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)
