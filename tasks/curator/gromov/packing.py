"""Distance matrices packed into flat arrays for the compiled solver, with indistinguishable nodes merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from tasks.curator.gromov.validation import checked_distances, checked_features

TWIN_TOLERANCE = 1e-12


class PackedArrays(NamedTuple):
    """All graphs one after another, K merged nodes in all; what the compiled solver reads."""

    distances: np.ndarray  # flat float64, the k x k matrices one after another
    matrix_starts: np.ndarray  # (G,) int64, where each matrix begins
    starts: np.ndarray  # (G + 1,) int64, where each graph's merged nodes begin
    eccentricity: np.ndarray  # (K,) float64
    order: np.ndarray  # (K,) uint32
    multiplicity: np.ndarray  # (K,) int64
    nodes: np.ndarray  # (G,) int64, original nodes
    energy: np.ndarray  # (G,) float64, mean squared distance
    reach: np.ndarray  # (G,) float64, the largest root mean square of a row
    features: np.ndarray  # (K, d) float64; d = 0 without features


class PackedGraphs(NamedTuple):
    """Packed arrays, and for every graph which merged node each of its nodes went into."""

    arrays: PackedArrays
    groups: tuple[np.ndarray, ...]


@njit(nogil=True, cache=True)
def twin_groups(
    distances: np.ndarray, features: np.ndarray, eccentricity: np.ndarray, order: np.ndarray, tolerance: float
) -> tuple[np.ndarray, int]:
    """Number the groups of nodes whose rows of distances and of features agree within ``tolerance``."""
    n = len(order)
    group = np.full(n, -1)
    count = 0
    for a in range(n):
        i = order[a]
        if group[i] >= 0:
            continue
        group[i] = count
        for b in range(a + 1, n):
            j = order[b]
            if eccentricity[j] - eccentricity[i] > tolerance:
                break
            if group[j] < 0 and distances[i, j] <= tolerance:
                apart = np.max(np.abs(distances[i] - distances[j]))
                if apart <= tolerance and (features[i] == features[j]).all():
                    group[j] = count
        count += 1
    return group, count


def pack(matrices: Sequence[np.ndarray], features: Sequence[np.ndarray] | None = None) -> PackedGraphs:
    """Check, cast to float64 and pack symmetric matrices of distances between nodes.

    Nodes at distance zero with equal rows (structural twins get the same embedding) are one node with a multiple of
    the weight: the objective and its minimum stay the same, the problem shrinks.

    Raises:
        UserError: for a matrix that is empty, not square, not symmetric or not finite, and for features that do not
            have a row for every node or differ in width.
    """
    rows = checked_features(features, matrices)
    distances, eccentricity, order, multiplicity, merged_features, groups = [], [], [], [], [], []
    nodes = np.empty(len(matrices), np.int64)
    energy = np.empty(len(matrices))
    reach = np.empty(len(matrices))
    for graph, matrix in enumerate(matrices):
        full = checked_distances(matrix, graph)
        mean = full.mean(axis=1)
        group, count = twin_groups(
            full, rows[graph], mean, np.argsort(mean, kind="stable"), TWIN_TOLERANCE * float(np.abs(full).max())
        )
        first = np.unique(group, return_index=True)[1]
        nodes[graph] = len(full)
        mean_squares = np.mean(full * full, axis=1)
        energy[graph] = mean_squares.mean()
        reach[graph] = np.sqrt(mean_squares.max())
        distances.append(full[np.ix_(first, first)].ravel())
        eccentricity.append(mean[first])
        order.append(np.argsort(mean[first], kind="stable").astype(np.uint32))
        multiplicity.append(np.bincount(group, minlength=count))
        merged_features.append(rows[graph][first])
        groups.append(group)
    sizes = np.array([len(part) for part in order], np.int64)
    arrays = PackedArrays(
        np.concatenate(distances),
        np.concatenate([[0], np.cumsum(sizes**2)[:-1]]).astype(np.int64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate(eccentricity),
        np.concatenate(order),
        np.concatenate(multiplicity).astype(np.int64),
        nodes,
        energy,
        reach,
        np.ascontiguousarray(np.concatenate(merged_features)),
    )
    return PackedGraphs(arrays, tuple(groups))
