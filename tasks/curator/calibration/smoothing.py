"""Smoothing over the collected graph: features, training labels and predicted probabilities (Solitude, eqs. 11, 12)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from tasks.curator.calibration.loops import without_loops
from tasks.errors import UserError
from tasks.reports.label import LabelReport

Smoothing = Literal["gcn", "paper"]
SMOOTHINGS: tuple[Smoothing, ...] = ("gcn", "paper")


def smoothing_matrix(graph: csr_array, smoothing: Smoothing = "gcn") -> csr_array:
    """S (N, N) float64 with sorted indices, for a graph (N, N) of bits or non-negative weights.

    No self-loops: a stored diagonal is cleared. ``gcn`` is D^-1/2 A D^-1/2 with D the row sums (as in the source's
    code), ``paper`` is A_ij / (d_i d_j) as printed in its eq. 11. A node with an empty row is its own only neighbour,
    at degree 1, and so keeps its own value.

    Raises:
        UserError: for a kind that is not offered.
    """
    if smoothing not in SMOOTHINGS:
        raise UserError(f"smoothing {smoothing!r} is unknown; use one of {', '.join(SMOOTHINGS)}")
    plain = without_loops(graph)
    degrees = plain.sum(axis=1)
    alone = degrees == 0
    degrees[alone] = 1.0
    scale = diags_array(degrees**-0.5 if smoothing == "gcn" else 1.0 / degrees)
    operator = csr_array(scale @ (plain + diags_array(alone.astype(np.float64))) @ scale)
    operator.sort_indices()
    return operator


def smooth(operator: csr_array, matrix: NDArray, steps: int) -> NDArray[np.float64]:
    """S^steps times ``matrix`` (N, k), k columns at a time through the graph."""
    smoothed = np.asarray(matrix, dtype=np.float64)
    for _ in range(steps):
        smoothed = operator @ smoothed
    return smoothed


def smoothed_targets(labels: LabelReport, operator: csr_array, steps: int) -> NDArray[np.int64]:
    """Targets (training nodes,) of LPGNN's Drop: the arg max of S^steps Y, where Y holds one-hot *training* labels.

    Training nodes alone get a target, as in LPGNN; the rows of all other nodes in Y are zero, so that neither a
    validation nor a test label can reach a target. A training node keeps its own label where no training label arrives
    within ``steps`` steps and where its own is among the largest; other ties go to the lowest class.
    """
    one_hot = np.zeros((operator.shape[0], labels.classes))
    one_hot[labels.train_nodes, labels.train_labels] = 1.0
    arrived = smooth(operator, one_hot, steps)[labels.train_nodes]
    own = arrived[np.arange(len(arrived)), labels.train_labels]
    # Sums of the same terms in another order differ in the last bits: that is no reason to change a label.
    keeps = own >= arrived.max(axis=1) * (1 - 1e-12)
    return np.where(keeps, labels.train_labels, arrived.argmax(axis=1)).astype(np.int64)
