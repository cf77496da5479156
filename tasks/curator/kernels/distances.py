"""Distances between the nodes of a graph from its embedding, and between graphs from node counts alone."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from tasks.errors import UserError

Metric = Literal["euclidean", "cosine", "correlation"]


def embedding_distances(embedding: NDArray[np.float64], metric: Metric = "euclidean") -> NDArray[np.float64]:
    """C_H, the distances between the rows of H (Jin & Chen 2022, eq. 3), symmetric with a zero diagonal.

    Cosine and correlation are 1 minus the similarity. They are not defined for a row of zeros (a node that sent
    nothing) or, for correlation, of equal cells: two such rows are at 0, one and any other row at 1.

    Args:
        embedding: (n, h).
        metric: ``euclidean``, ``cosine`` or ``correlation``.

    Returns:
        float64 (n, n).

    Raises:
        UserError: for an unknown metric, an empty graph, or cells that are not finite.
    """
    if metric not in get_args(Metric):
        raise UserError(f"metric: {metric!r} is unknown; use one of {', '.join(get_args(Metric))}")
    if embedding.ndim != 2 or min(embedding.shape) < 1 or not np.isfinite(embedding).all():
        raise UserError("an embedding is empty or holds NaN; every graph needs a finite row per node")
    rows = embedding.astype(np.float64)
    if metric == "euclidean":
        return squareform(pdist(rows))
    if metric == "correlation":
        rows = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(rows, axis=1)
    # Rounding leaves a row of equal cells a tiny length after centring.
    undefined = lengths <= 1e-12 * np.maximum(1.0, np.abs(embedding).max(axis=1))
    units = rows / np.where(undefined, 1.0, lengths)[:, None]
    # Half the squared distance of unit vectors is 1 - cosine, without its cancellation for close rows.
    apart = squareform(pdist(units, "sqeuclidean")) / 2
    apart[undefined | undefined[:, None]] = 1.0
    apart[undefined & undefined[:, None]] = 0.0
    np.fill_diagonal(apart, 0.0)
    return apart


def node_count_distances(node_counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The control: |n_i - n_j| for all pairs of graphs, (G, G). Node counts are public under every encoder."""
    counts = node_counts.astype(np.float64)
    return np.abs(counts[:, None] - counts)
