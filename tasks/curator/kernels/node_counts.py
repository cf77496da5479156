"""Clusters of graphs by their size alone: what anybody learns who knows nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from tasks.errors import UserError


def node_count_k_means(node_counts: NDArray[np.int64], clusters: int, seed: int) -> NDArray[np.int64]:
    """k-means of the logarithms of the node counts, int64 (G,). Equal counts share a cluster.

    Where there are fewer different counts than clusters, some clusters are left empty.

    Args:
        node_counts: int64 (G,), 1 or more.
        clusters: k.
        seed: of the first centres, 32 bits; ten starts, the best is kept.

    Raises:
        UserError: for k out of range.
    """
    if not 1 <= clusters <= len(node_counts):
        raise UserError(f"clusters: {clusters} is out of range; use 1 to {len(node_counts)}, the number of graphs")
    sizes = np.log(node_counts.astype(np.float64))[:, None]
    used = min(clusters, len(np.unique(node_counts)))
    with threadpool_limits(1):  # sums over threads differ in their last bits
        return KMeans(used, n_init=10, random_state=seed).fit_predict(sizes).astype(np.int64)
