"""What the uploads behind FedWalk's tree say of every pair: noisy degrees, counts by group, structural matrices.

For public data sets alone: the scores are judged by the true edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.epsilon import INFINITE, epsilon_value
from tasks.evaluation.attacks.encoder_inversion import LEAST_DEGREE, degree_rates
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.fedwalk.neighbour_counts import BUCKETS, NeighbourCountReport, degree_buckets
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport

_MARGIN = 15.0
"""Counts are considered up to this many times the noise's scale above the largest cell."""


def degree_scores(degrees: NDArray[np.int64]) -> NDArray[np.float32]:
    """(V, V): the baseline, products of the published degrees."""
    return degree_rates(degrees, float(np.maximum(degrees, LEAST_DEGREE).sum()))


def count_scores(report: NeighbourCountReport, degrees: DegreeReport, bins: NDArray[np.int32]) -> NDArray[np.float32]:
    """(V, V): products of degrees, times what either end's cell says of the other against what degrees let expect.

    Args:
        report: counts by bucket of published degree and bin.
        degrees: the published degrees, which say who is in which bucket.
        bins: int32 (V,), the public bin of every vertex.
    """
    cells = BUCKETS * report.counts.shape[2]
    cell = degree_buckets(degrees.degrees) * report.counts.shape[2] + bins
    weights = np.maximum(degrees.degrees, LEAST_DEGREE)
    shares = np.bincount(cell, weights, minlength=cells) / weights.sum()
    expected = np.maximum(weights[:, None] * shares, 1e-9)
    claimed = posterior_counts(report.counts.reshape(report.nodes, cells), expected, report)
    ratio = (claimed / expected)[:, cell].astype(np.float32)
    return degree_scores(degrees.degrees) * ratio * ratio.T


def posterior_counts(
    noisy: NDArray[np.int32], expected: NDArray[np.float64], report: NeighbourCountReport
) -> NDArray[np.float64]:
    """Posterior means of the counts: Poisson with these means, seen through discrete Laplace noise."""
    if report.epsilon == INFINITE:
        return np.maximum(noisy, 0).astype(np.float64)
    rate = epsilon_value(report.epsilon) / report.sensitivity
    largest = int(max(noisy.max(), 0) + np.ceil(_MARGIN / rate))
    log_prior = -expected
    mass, moment = np.zeros(expected.shape), np.zeros(expected.shape)
    for count in range(largest + 1):
        if count:
            log_prior = log_prior + np.log(expected) - np.log(count)
        # Divided by the noise's law at zero counts, so that no cell underflows.
        weight = np.exp(log_prior - rate * (np.abs(noisy - count) - np.abs(noisy)))
        mass += weight
        moment += count * weight
    found: NDArray[np.float64] = moment / mass
    return found


def matrix_scores(report: StructuralMatrixReport) -> NDArray[np.float32]:
    """(V, V): how many rows of either end's matrix equal the other's vector, shared among those with equal vectors."""
    vertices = len(report.vectors)
    known, name_of = np.unique(_as_words(report.vectors), return_inverse=True)
    places = np.searchsorted(known, _as_words(report.rows))
    owner = np.repeat(np.arange(vertices), np.diff(report.indptr))
    shape = (vertices, len(known))
    sharing = np.bincount(name_of, minlength=len(known))
    names = csr_array((1.0 / sharing[name_of], (np.arange(vertices), name_of)), shape=shape)
    rows = csr_array((np.ones(len(owner)), (owner, places)), shape=shape)
    found = np.asarray((rows @ names.T).toarray(), dtype=np.float32)
    return found + found.T


def _as_words(vectors: NDArray[np.float32]) -> NDArray[np.void]:
    """Rows as single comparable items."""
    rows = np.ascontiguousarray(vectors)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
