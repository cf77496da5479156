"""The server's attack on the tree's uploads: it rebuilds neighbour lists from what built the tree.

Paper mode hands it every list: a row of a structural matrix *is* the vector that the neighbour uploaded. Private mode
leaves it with noisy counts; its best guess ranks the vertices of a cell by the share of the cell that the device
claims, and is compared with a guess from published degrees alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.reports.fedwalk.neighbour_counts import BUCKETS, NeighbourCountReport, degree_buckets
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport


@dataclass(frozen=True)
class TreeLeak:
    """Outcome of the attack.

    Attributes:
        precision: share of the guessed list entries that are true.
        recall: share of the true list entries that are guessed.
        chance: recall of guessing, for everyone, the vertices of highest published degree; for ``paper`` mode the
            share of ordered pairs that are entries.
    """

    precision: float
    recall: float
    chance: float


def leak_of_structural_matrices(report: StructuralMatrixReport, adjacency: csr_array) -> TreeLeak:
    """Matches every row with the equal vectors; a row that equals several names them all."""
    vertices = len(report.vectors)
    known, name_of = np.unique(_as_words(report.vectors), return_inverse=True)
    places = np.searchsorted(known, _as_words(report.rows))
    owner = np.repeat(np.arange(vertices), np.diff(report.indptr))
    names = csr_array((np.ones(vertices, dtype=np.int8), (np.arange(vertices), name_of)), shape=(vertices, len(known)))
    found = csr_array((np.ones(len(owner), dtype=np.int8), (owner, places)), shape=(vertices, len(known)))
    guesses = csr_array(found @ names.T)
    guesses.data[:] = 1
    hits = int(guesses.multiply(adjacency).sum())
    chance = adjacency.nnz / (vertices * (vertices - 1))
    return TreeLeak(hits / max(guesses.nnz, 1), hits / adjacency.nnz, chance)


def leak_of_neighbour_counts(
    report: NeighbourCountReport,
    published_degrees: NDArray[np.int64],
    bins: NDArray[np.int32],
    adjacency: csr_array,
) -> TreeLeak:
    """Guesses, for every device, as many neighbours as it has, from the cells that it claims most of.

    The true list lengths help the attacker, so that the figure errs on his side.
    """
    vertices = report.nodes
    cell = degree_buckets(published_degrees) * report.counts.shape[2] + bins
    cell_sizes = np.bincount(cell, minlength=BUCKETS * report.counts.shape[2])
    claimed = report.counts.reshape(vertices, -1) / np.maximum(cell_sizes, 1)
    degrees = np.diff(adjacency.indptr)
    hits = blind = 0
    # Equal shares within a cell are ordered by published degree.
    prior = np.argsort(np.argsort(published_degrees, kind="stable")) / vertices
    for vertex in np.flatnonzero(degrees).tolist():
        own = adjacency.indices[adjacency.indptr[vertex] : adjacency.indptr[vertex + 1]]
        ranked = np.lexsort((prior, claimed[vertex, cell]))
        hits += _found(ranked, vertex, own)
        blind += _found(np.argsort(prior), vertex, own)
    return TreeLeak(hits / adjacency.nnz, hits / adjacency.nnz, blind / adjacency.nnz)


def _found(ranked: NDArray[np.int64], vertex: int, own: NDArray[np.int32]) -> int:
    others = ranked[ranked != vertex]
    return int(np.isin(others[-len(own) :], own).sum())


def _as_words(vectors: NDArray[np.float32]) -> NDArray[np.void]:
    """Rows as single comparable items."""
    rows = np.ascontiguousarray(vectors)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
