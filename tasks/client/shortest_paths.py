"""Shortest-path distances between the nodes of a raw graph, the structure of the baselines without privacy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from tasks.errors import UserError


def shortest_path_distances(adjacency: csr_array) -> NDArray[np.float64]:
    """Numbers of edges, float64 (n, n). Nodes without a path are n apart, further than any path is long.

    Raises:
        UserError: for a graph without nodes.
    """
    nodes = adjacency.shape[0]
    if not nodes:
        raise UserError("a graph has no nodes; remove it")
    distances = shortest_path(adjacency, method="D", directed=False, unweighted=True)
    distances[np.isinf(distances)] = nodes
    return distances
