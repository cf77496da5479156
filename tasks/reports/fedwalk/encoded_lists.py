"""The report of encoded neighbour lists: what the server receives in ``release_once`` mode."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError
from tasks.reports.archive import array_text, content_digest, read_arrays, refusals_name, text_array, write_arrays
from tasks.reports.ledgers.entry import require_entry
from tasks.reports.ledgers.ledger import LedgerLine

_SPEC = {
    "epsilon": ("uint8", 1),
    "ledger": ("uint8", 1),
    "padded": ("bool", 0),
    "indptr": ("int64", 1),
    "indices": ("int32", 1),
}


@dataclass(frozen=True, eq=False)
class EncodedListReport:
    """Encoded lists in compressed rows.

    Attributes:
        epsilon: canonical budget of the encoder, per level of the tree.
        padded: whether lists have the published noisy degree as their length instead of the true one.
        indptr: int64 (V+1,).
        indices: int32 (entries,): encodings, ascending within a row; an id may repeat, or be the device's own.
        ledger: what the report costs.

    Raises:
        UserError: when the arrays do not describe such lists.
    """

    epsilon: str
    padded: bool
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    ledger: LedgerLine

    def __post_init__(self) -> None:
        require_entry(self.ledger, "encoded lists", report="encoded list report")
        indptr, indices = self.indptr, self.indices
        if len(indptr) < 2 or indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
            raise UserError("encoded list report: indptr does not fit the entries")
        if len(indices) and (indices.min() < 0 or indices.max() >= self.nodes):
            raise UserError("encoded list report: an entry is out of range")

    @property
    def nodes(self) -> int:
        """V."""
        return len(self.indptr) - 1

    def digest(self) -> str:
        """sha256 of the content, without the ledger line."""
        return content_digest({name: array for name, array in self._arrays().items() if name != "ledger"})

    def save(self, path: Path) -> None:
        """Writes the report; equal reports give equal bytes."""
        write_arrays(path, self._arrays())

    @classmethod
    def load(cls, path: Path) -> EncodedListReport:
        """Reads what ``save`` wrote; UserError when it is damaged in any way."""
        arrays = read_arrays(path, _SPEC)
        with refusals_name(path):
            return cls(
                epsilon=array_text(arrays["epsilon"], path),
                padded=bool(arrays["padded"]),
                indptr=arrays["indptr"],
                indices=arrays["indices"],
                ledger=LedgerLine.from_json(array_text(arrays["ledger"], path)),
            )

    def _arrays(self) -> dict[str, NDArray]:
        return {
            "epsilon": text_array(self.epsilon),
            "ledger": text_array(self.ledger.to_json()),
            "padded": np.array(self.padded),
            "indptr": self.indptr,
            "indices": self.indices,
        }
