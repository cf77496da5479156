"""The report of feature vectors: m (dimension, sign) pairs a user, or the exact values when there is no noise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.epsilon import INFINITE, canonical_epsilon
from tasks.errors import UserError
from tasks.reports.archive import array_text, content_digest, read_arrays, refusals_name, text_array, write_arrays
from tasks.reports.ledgers.entry import require_entry
from tasks.reports.ledgers.ledger import LedgerLine

_SPEC = {
    "epsilon": ("uint8", 1),
    "ledger": ("uint8", 1),
    "shape": ("int64", 1),
    "bounds": ("float64", 1),
    "dims": ("int32", 2),
    "signs": ("int8", 2),
    "exact_indptr": ("int64", 1),
    "exact_indices": ("int32", 1),
    "exact_values": ("float64", 1),
}


@dataclass(frozen=True, eq=False)
class FeatureReport:
    """Reported feature vectors.

    Attributes:
        nodes: N.
        dimensions: d.
        sampled: m, the number of dimensions each user reports on.
        epsilon: canonical budget of a user's whole vector.
        bounds: declared (x_min, x_max).
        dims: int32 (N, m), strictly increasing within a row.
        signs: int8 (N, m), -1 or +1.
        ledger: what the report costs.
        exact: float64 (N, d) in compressed rows when epsilon is ``"inf"`` (then m = d and dims, signs are (N, 0)),
            else None.

    Raises:
        UserError: when the arrays do not describe such a report.
    """

    nodes: int
    dimensions: int
    sampled: int
    epsilon: str
    bounds: tuple[float, float]
    dims: NDArray[np.int32]
    signs: NDArray[np.int8]
    ledger: LedgerLine
    exact: csr_array | None = None

    def __post_init__(self) -> None:
        require_entry(self.ledger, "features", report="feature report")
        if canonical_epsilon(self.epsilon) != self.epsilon or self.ledger.epsilon != self.epsilon:
            raise UserError("feature report: the budget is not canonical or differs from the ledger line")
        if self.nodes < 1 or self.dimensions < 1 or not 1 <= self.sampled <= self.dimensions:
            raise UserError("feature report: node count, dimensions or sampled dimensions are out of range")
        low, high = self.bounds
        if not (np.isfinite([low, high]).all() and low < high):
            raise UserError("feature report: bounds must be finite and in order")
        columns = 0 if self.epsilon == INFINITE else self.sampled
        if self.dims.dtype != np.int32 or self.signs.dtype != np.int8:
            raise UserError("feature report: dims must be int32 and signs int8")
        if self.dims.shape != (self.nodes, columns) or self.signs.shape != (self.nodes, columns):
            raise UserError("feature report: dims or signs do not have the declared shape")
        if columns:
            if self.dims.min() < 0 or self.dims.max() >= self.dimensions:
                raise UserError("feature report: a dimension is out of range")
            if (np.diff(self.dims, axis=1) <= 0).any():
                raise UserError("feature report: a row of dimensions is not strictly increasing")
            if (np.abs(self.signs) != 1).any():
                raise UserError("feature report: a sign is neither -1 nor +1")
        if (self.exact is not None) != (self.epsilon == INFINITE):
            raise UserError("feature report: exact values belong to epsilon inf and to nothing else")
        if self.exact is not None:
            _check_exact(self.exact, (self.nodes, self.dimensions), self.bounds)

    def digest(self) -> str:
        """sha256 of the content, without the ledger line."""
        return content_digest({name: array for name, array in self._arrays().items() if name != "ledger"})

    def save(self, path: Path) -> None:
        """Writes the report; equal reports give equal bytes."""
        write_arrays(path, self._arrays())

    @classmethod
    def load(cls, path: Path) -> FeatureReport:
        """Reads what ``save`` wrote; UserError when it is damaged in any way."""
        arrays = read_arrays(path, _SPEC)
        with refusals_name(path):
            if arrays["shape"].shape != (3,) or arrays["bounds"].shape != (2,):
                raise UserError("feature report: shape or bounds have the wrong length")
            nodes, dimensions, sampled = (int(x) for x in arrays["shape"])
            epsilon = array_text(arrays["epsilon"], path)
            parts = (arrays["exact_values"], arrays["exact_indices"], arrays["exact_indptr"])
            return cls(
                nodes=nodes,
                dimensions=dimensions,
                sampled=sampled,
                epsilon=epsilon,
                bounds=(float(arrays["bounds"][0]), float(arrays["bounds"][1])),
                dims=arrays["dims"],
                signs=arrays["signs"],
                ledger=LedgerLine.from_json(array_text(arrays["ledger"], path)),
                exact=_compressed_rows(parts, (nodes, dimensions)) if epsilon == INFINITE else None,
            )

    def _arrays(self) -> dict[str, NDArray]:
        exact = self.exact if self.exact is not None else csr_array((0, 0), dtype=np.float64)
        return {
            "epsilon": text_array(self.epsilon),
            "ledger": text_array(self.ledger.to_json()),
            "shape": np.array([self.nodes, self.dimensions, self.sampled], dtype=np.int64),
            "bounds": np.array(self.bounds, dtype=np.float64),
            "dims": self.dims,
            "signs": self.signs,
            "exact_indptr": exact.indptr.astype(np.int64),
            "exact_indices": exact.indices.astype(np.int32),
            "exact_values": exact.data,
        }


def _compressed_rows(parts: tuple[NDArray, NDArray, NDArray], shape: tuple[int, int]) -> csr_array:
    try:
        matrix = csr_array(parts, shape=shape)
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError):
        raise UserError("feature report: the exact values are not sound compressed rows") from None
    return matrix


def _check_exact(exact: csr_array, shape: tuple[int, int], bounds: tuple[float, float]) -> None:
    if exact.shape != shape or exact.data.dtype != np.float64 or not exact.has_canonical_format:
        raise UserError("feature report: the exact values must be float64 (N, d) in sorted compressed rows")
    if not ((exact.data >= bounds[0]) & (exact.data <= bounds[1])).all():
        raise UserError("feature report: an exact value lies outside the declared bounds")
