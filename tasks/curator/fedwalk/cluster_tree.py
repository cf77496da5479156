"""Cluster trees from ordered matrices, by the linkage's name, and the random tree that they are judged against."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage as scipy_linkage

from tasks.broadcasts.tree import ClusterTree
from tasks.curator.fedwalk.bisection import balanced_children
from tasks.curator.fedwalk.dtw import condensed_distances
from tasks.curator.fedwalk.ordered_matrices import (
    OrderedMatrices,
    matrices_from_counts,
    matrices_from_structural,
    sketched,
)
from tasks.errors import UserError
from tasks.reports.fedwalk.neighbour_counts import NeighbourCountReport
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport

Linkage = Literal["balanced", "average", "complete"]
ALL_PAIRS_LIMIT = 12_000


def private_tree(
    report: NeighbourCountReport, rng: np.random.Generator, *, linkage: Linkage = "balanced", threads: int = 1
) -> ClusterTree:
    """The tree of the neighbour-group counts."""
    return _tree("private", matrices_from_counts(report), linkage, rng, threads)


def paper_tree(
    report: StructuralMatrixReport, rng: np.random.Generator, *, linkage: Linkage = "balanced", threads: int = 1
) -> ClusterTree:
    """The tree of the paper's structural matrices, pooled to 16 rows; the uploads behind it give the graph away."""
    return _tree("paper", sketched(matrices_from_structural(report)), linkage, rng, threads)


def random_tree(vertices: int, rng: np.random.Generator) -> ClusterTree:
    """A balanced tree over the vertices in random order: it costs no budget and knows nothing.

    Raises:
        UserError: for fewer than two vertices.
    """
    if vertices < 2:
        raise UserError(f"a cluster tree needs two vertices or more, not {vertices}")
    alike = OrderedMatrices(
        rows=np.zeros((vertices, 1), dtype=np.float32),
        indptr=np.arange(vertices + 1, dtype=np.int64),
        lengths=np.ones(vertices, dtype=np.int64),
    )
    # Equal distances leave every segment in its order: the ids are renamed at random afterwards.
    children = balanced_children(alike, rng)
    names = np.arange(2 * vertices - 1, dtype=np.int32)
    names[:vertices] = rng.permutation(vertices)
    return ClusterTree("random", "balanced", names[children])


def _tree(
    source: str, matrices: OrderedMatrices, linkage: Linkage, rng: np.random.Generator, threads: int
) -> ClusterTree:
    if matrices.vertices < 2:
        raise UserError("a cluster tree needs two vertices or more")
    if linkage == "balanced":
        return ClusterTree(source, linkage, balanced_children(matrices, rng))
    return ClusterTree(source, linkage, linked_children(matrices, linkage, threads=threads))


def linked_children(matrices: OrderedMatrices, linkage: Linkage, *, threads: int = 1) -> NDArray[np.int32]:
    """Average or complete linkage over all pairs (SciPy's nearest-neighbour chain, O(V^2)), int32 (V-1, 2).

    Raises:
        UserError: for another linkage, or more vertices than all pairs fit in memory for.
    """
    if linkage not in ("average", "complete"):
        raise UserError(f"linkage: {linkage!r} is unknown; use one of {', '.join(get_args(Linkage))}")
    if matrices.vertices > ALL_PAIRS_LIMIT:
        raise UserError(f"linkage: {linkage} needs all pairs of {matrices.vertices} vertices; use balanced instead")
    merges = scipy_linkage(condensed_distances(matrices, threads=threads), method=linkage)
    return merges[:, :2].astype(np.int32)
