"""Unbiased estimates from multi-bit reports (Solitude, eq. 9), kept as a constant plus few non-zeros a row."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.epsilon import INFINITE, epsilon_value
from tasks.reports.feature import FeatureReport


@dataclass(frozen=True, eq=False)
class AffineSparse:
    """The matrix ``constant + sparse``, where the constant fills all entries.

    Attributes:
        constant: added to every entry.
        sparse: float64 (N, d).
    """

    constant: float
    sparse: csr_array

    @property
    def shape(self) -> tuple[int, int]:
        """(N, d)."""
        return self.sparse.shape

    def matmul(self, weights: NDArray) -> NDArray[np.float64]:
        """The product with ``weights`` (d, h), float64 (N, h), without forming the N x d matrix."""
        return self.constant * weights.sum(axis=0, dtype=np.float64) + self.sparse @ weights

    def toarray(self) -> NDArray[np.float64]:
        """The dense float64 (N, d) matrix; for small sizes."""
        return self.constant + self.sparse.toarray()


def rectified(report: FeatureReport) -> AffineSparse:
    """The unbiased estimate of every feature vector.

    x~ = d (x_max - x_min)/(2m) * (e^s + 1)/(e^s - 1) * x^ + (x_max + x_min)/2 with s = eps/m, where x^ is the sign at
    the sampled dimensions and 0 elsewhere. At ``"inf"`` the exact values.
    """
    if report.epsilon == INFINITE:
        assert report.exact is not None  # the report's own invariant
        return AffineSparse(0.0, report.exact.copy())
    low, high = report.bounds
    share = epsilon_value(report.epsilon) / report.sampled
    # (e^s + 1)/(e^s - 1) = 1/tanh(s/2), which neither overflows nor cancels.
    scale = report.dimensions * (high / 2 - low / 2) / report.sampled / math.tanh(share / 2)
    indptr = np.arange(0, report.dims.size + 1, report.sampled, dtype=np.int64)
    sparse = csr_array(
        (scale * report.signs.ravel(), report.dims.ravel(), indptr), shape=(report.nodes, report.dimensions)
    )
    return AffineSparse(high / 2 + low / 2, sparse)
