"""The report of neighbour-group counts: how many neighbours a device has in every degree bucket and public bin."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError
from tasks.reports.archive import array_text, content_digest, read_arrays, refusals_name, text_array, write_arrays
from tasks.reports.ledgers.entry import require_entry
from tasks.reports.ledgers.ledger import LedgerLine

BUCKETS = 8
"""R: log2 buckets of published degree, bucket r from 2^r on; the first holds all below, the last all above."""
_SPEC = {
    "epsilon": ("uint8", 1),
    "ledger": ("uint8", 1),
    "sensitivity": ("int64", 0),
    "counts": ("int32", 3),
}


def degree_buckets(published: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bucket of every published degree: floor(log2 d), kept within 0..R-1."""
    return np.frexp(np.clip(published, 1, 2**BUCKETS - 1))[1].astype(np.int64) - 1


@dataclass(frozen=True, eq=False)
class NeighbourCountReport:
    """Reported counts.

    Attributes:
        epsilon: canonical budget of one device's whole table.
        sensitivity: 1 for adding or removing a neighbour, 2 for replacing one at public degree.
        counts: int32 (V, R, k), as drawn: cells may be negative.
        ledger: what the report costs.

    Raises:
        UserError: when the arrays are no such tables.
    """

    epsilon: str
    sensitivity: int
    counts: NDArray[np.int32]
    ledger: LedgerLine

    def __post_init__(self) -> None:
        require_entry(self.ledger, "counts", report="neighbour count report", epsilon=self.epsilon)
        if self.counts.dtype != np.int32 or self.counts.ndim != 3 or 0 in self.counts.shape:
            raise UserError("neighbour count report: counts must be int32 of shape (vertices, buckets, bins)")
        if self.sensitivity not in (1, 2):
            raise UserError(f"neighbour count report: sensitivity {self.sensitivity} is neither 1 nor 2")

    @property
    def nodes(self) -> int:
        """V."""
        return len(self.counts)

    def digest(self) -> str:
        """sha256 of the content, without the ledger line."""
        return content_digest({name: array for name, array in self._arrays().items() if name != "ledger"})

    def save(self, path: Path) -> None:
        """Writes the report; equal reports give equal bytes."""
        write_arrays(path, self._arrays())

    @classmethod
    def load(cls, path: Path) -> NeighbourCountReport:
        """Reads what ``save`` wrote; UserError when it is damaged in any way."""
        arrays = read_arrays(path, _SPEC)
        with refusals_name(path):
            return cls(
                epsilon=array_text(arrays["epsilon"], path),
                sensitivity=int(arrays["sensitivity"]),
                counts=arrays["counts"],
                ledger=LedgerLine.from_json(array_text(arrays["ledger"], path)),
            )

    def _arrays(self) -> dict[str, NDArray]:
        return {
            "epsilon": text_array(self.epsilon),
            "ledger": text_array(self.ledger.to_json()),
            "sensitivity": np.array(self.sensitivity, dtype=np.int64),
            "counts": self.counts,
        }
