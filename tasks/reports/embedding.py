"""The report of node embeddings: a few signs per graph, or values when there are no coins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.epsilon import INFINITE, canonical_epsilon
from tasks.errors import UserError
from tasks.reports.archive import array_text, content_digest, read_arrays, refusals_name, text_array, write_arrays
from tasks.reports.encoders import Encoder, checked_encoder
from tasks.reports.ledgers.entry import require_entry
from tasks.reports.ledgers.ledger import LedgerLine

_SPEC = {
    "encoder": ("uint8", 1),
    "epsilon": ("uint8", 1),
    "ledger": ("uint8", 1),
    "dimensions": ("int64", 0),
    "node_counts": ("int64", 1),
    "indptr": ("int64", 1),
    "columns": ("int32", 1),
    "signs": ("int8", 1),
    "values": ("float64", 2),
}


@dataclass(frozen=True, eq=False)
class EmbeddingReport:
    """Reported embeddings of G graphs, the R rows (nodes) of all graphs one after another.

    Attributes:
        encoder: which mechanism made it.
        epsilon: canonical setting, see ``encoder_setting``.
        dimensions: h.
        node_counts: int64 (G,), public.
        indptr: int64 (R+1,): row r reports the cells ``columns[indptr[r] : indptr[r+1]]``.
        columns: int32 (S,), strictly increasing within a row.
        signs: int8 (S,), -1 or +1.
        values: float64 (R, h) when the encoder has no coins (``gaussian_scale``, or epsilon ``"inf"``) and S is 0;
            else (0, h).
        ledger: what the report costs.

    Raises:
        UserError: when the arrays do not describe such a report.
    """

    encoder: Encoder
    epsilon: str
    dimensions: int
    node_counts: NDArray[np.int64]
    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    signs: NDArray[np.int8]
    values: NDArray[np.float64]
    ledger: LedgerLine

    def __post_init__(self) -> None:
        require_entry(self.ledger, "embedding", report="embedding report")
        checked_encoder(self.encoder)
        if canonical_epsilon(self.epsilon, per_node=True) != self.epsilon:
            raise UserError("embedding report: the budget is not canonical")
        if self.node_counts.dtype != np.int64 or self.node_counts.ndim != 1 or self.node_counts.min(initial=1) < 1:
            raise UserError("embedding report: node counts must be positive int64")
        if self.dimensions < 1 or self.node_counts.sum(dtype=np.float64) * self.dimensions > 2.0**62:
            raise UserError("embedding report: node counts or dimensions are out of range")
        rows, sent = int(self.node_counts.sum()), len(self.columns)
        if self.values.dtype != np.float64 or self.values.shape != (0 if self.coins else rows, self.dimensions):
            raise UserError("embedding report: values do not have the declared shape")
        if not np.isfinite(self.values).all():
            raise UserError("embedding report: a value is not finite")
        if self.indptr.dtype != np.int64 or self.columns.dtype != np.int32 or self.signs.dtype != np.int8:
            raise UserError("embedding report: indptr must be int64, columns int32 and signs int8")
        if self.indptr.shape != (rows + 1,) or self.indptr[0] != 0 or self.indptr[-1] != sent:
            raise UserError("embedding report: indptr does not fit the rows and cells")
        if (np.diff(self.indptr) < 0).any() or self.signs.shape != (sent,) or bool(sent) != self.coins:
            raise UserError("embedding report: indptr decreases, or cells and signs do not fit the encoder")
        if self.columns.min(initial=0) < 0 or self.columns.max(initial=0) >= self.dimensions:
            raise UserError("embedding report: a column is out of range")
        row_of = np.repeat(np.arange(rows), np.diff(self.indptr))
        if (np.diff(row_of * self.dimensions + self.columns) <= 0).any():
            raise UserError("embedding report: the cells of a row are not strictly increasing")
        if (np.abs(self.signs) != 1).any():
            raise UserError("embedding report: a sign is neither -1 nor +1")

    @property
    def coins(self) -> bool:
        """Whether cells were sent as signs."""
        return self.encoder != "gaussian_scale" and self.epsilon != INFINITE

    @property
    def graphs(self) -> int:
        """G."""
        return len(self.node_counts)

    def digest(self) -> str:
        """sha256 of the content, without the ledger line."""
        return content_digest({name: array for name, array in self._arrays().items() if name != "ledger"})

    def save(self, path: Path) -> None:
        """Writes the report; equal reports give equal bytes."""
        write_arrays(path, self._arrays())

    @classmethod
    def load(cls, path: Path) -> EmbeddingReport:
        """Reads what ``save`` wrote; UserError when it is damaged in any way."""
        arrays = read_arrays(path, _SPEC)
        with refusals_name(path):
            return cls(
                encoder=checked_encoder(array_text(arrays["encoder"], path)),
                epsilon=array_text(arrays["epsilon"], path),
                dimensions=int(arrays["dimensions"]),
                node_counts=arrays["node_counts"],
                indptr=arrays["indptr"],
                columns=arrays["columns"],
                signs=arrays["signs"],
                values=arrays["values"],
                ledger=LedgerLine.from_json(array_text(arrays["ledger"], path)),
            )

    def _arrays(self) -> dict[str, NDArray]:
        return {
            "encoder": text_array(self.encoder),
            "epsilon": text_array(self.epsilon),
            "ledger": text_array(self.ledger.to_json()),
            "dimensions": np.array(self.dimensions, dtype=np.int64),
            "node_counts": self.node_counts,
            "indptr": self.indptr,
            "columns": self.columns,
            "signs": self.signs,
            "values": self.values,
        }
