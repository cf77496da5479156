"""Attribute inference: which features does a node have, given multi-bit reports, its own and those around it?

A feature counts as present above the middle of the declared bounds. Each present one stands against the same feature of
a node that lacks it, so a feature's popularity is worth nothing. For public data sets alone: judged by the truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score

from tasks.curator.calibration.smoothing import smoothing_matrix
from tasks.curator.rectify import rectified
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.attacks.pairs import entries
from tasks.evaluation.attacks.privacy import refuse_private
from tasks.reports.feature import FeatureReport

_TRIES = 200


@dataclass(frozen=True, eq=False)
class AttributeSample:
    """Entries of the features.

    Attributes:
        nodes, dimensions: int64 (2k,): k present entries, then for each the same dimension of a node that lacks it.
        present: bool (2k,).
    """

    nodes: NDArray[np.int64]
    dimensions: NDArray[np.int64]
    present: NDArray[np.bool_]


def sample_attributes(graph: RawGraph, rng: np.random.Generator, *, most: int = 20_000) -> AttributeSample:
    """At most ``most`` present entries and their counterparts, uniformly at random.

    Raises:
        UserError: for a private data set, or one without features that some nodes have and others lack.
    """
    held = _present(graph)
    rows, columns = held.tocoo().coords
    keys = rows.astype(np.int64) * held.shape[1] + columns
    chosen = rng.permutation(keys)[:most]
    dimensions = chosen % held.shape[1]
    others = rng.integers(graph.nodes, size=len(chosen))
    for _ in range(_TRIES):
        taken = entries(held, others, dimensions) > 0
        if not taken.any():
            break
        others[taken] = rng.integers(graph.nodes, size=int(taken.sum()))
    found = entries(held, others, dimensions) == 0
    if not found.any():
        raise UserError(f"{graph.name}: attribute inference needs features that some nodes have and others lack")
    own, others, dimensions = chosen[found] // held.shape[1], others[found], dimensions[found]
    return AttributeSample(np.concatenate([own, others]), np.tile(dimensions, 2), np.arange(2 * len(own)) < len(own))


def infer_from_reports(graph: RawGraph, report: FeatureReport, sample: AttributeSample) -> dict[str, float]:
    """AUC of a node's own report over ``all features``, and over ``reported features`` alone (not at ``"inf"``).

    A report tells of m of the d dimensions: the first says what it gives away of a vector, the second of a reported
    entry, where it is e^s/(1 + e^s) with s = eps/m for binary features.

    Raises:
        UserError: for a private data set.
    """
    estimate = rectified(report).sparse
    found = {"all features": _auc(estimate, sample)}
    if report.exact is None:
        held = _present(graph)
        nodes = np.repeat(np.arange(report.nodes, dtype=np.int64), report.sampled)
        truth = entries(held, nodes, report.dims.ravel().astype(np.int64)) > 0
        if truth.any() and not truth.all():
            found["reported features"] = float(roc_auc_score(truth, report.signs.ravel()))
    return found


def infer_from_neighbours(report: FeatureReport, lists: csr_array, sample: AttributeSample, *, steps: int = 2) -> float:
    """AUC of a node's own report plus what ``steps`` steps of smoothing over ``lists`` (N, N) bring from around it.

    Memory: N x d doubles, three times.
    """
    operator = smoothing_matrix(lists)
    arriving = rectified(report).sparse.toarray()
    gathered = arriving.copy()
    for _ in range(steps):
        arriving = operator @ arriving
        gathered += arriving
    return float(roc_auc_score(sample.present, gathered[sample.nodes, sample.dimensions]))


def _auc(estimate: csr_array, sample: AttributeSample) -> float:
    return float(roc_auc_score(sample.present, entries(estimate, sample.nodes, sample.dimensions)))


def _present(graph: RawGraph) -> csr_array:
    """bool (N, d) as int8: entries above the middle of the declared bounds."""
    refuse_private(graph.name, graph.private)
    if graph.features is None:
        raise UserError(f"{graph.name} has no node features to infer")
    middle = sum(graph.feature_bounds) / 2
    if middle < 0:
        raise UserError(f"{graph.name}: attribute inference needs bounds around zero or above, where absence is zero")
    held = csr_array(graph.features > middle, dtype=np.int8)
    held.sort_indices()
    return held
