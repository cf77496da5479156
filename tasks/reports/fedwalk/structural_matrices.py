"""The uploads of the paper's tree, a reference only: a device sends its neighbours' noisy vectors, and so its list."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError
from tasks.reports.archive import array_text, read_arrays, refusals_name, text_array, write_arrays
from tasks.reports.ledgers.entry import require_entry
from tasks.reports.ledgers.ledger import LedgerLine

_SPEC = {
    "epsilon": ("uint8", 1),
    "ledger": ("uint8", 1),
    "vectors": ("float32", 2),
    "indptr": ("int64", 1),
    "rows": ("float32", 2),
}


@dataclass(frozen=True, eq=False)
class StructuralMatrixReport:
    """Noisy vectors and structural matrices.

    Attributes:
        epsilon: canonical budget of the Laplace noise.
        vectors: float32 (V, k): device v's noisy count of neighbours in every bin, in the server's hands.
        indptr: int64 (V+1,): device v's matrix is ``rows[indptr[v] : indptr[v+1]]``.
        rows: float32 (2E, k): the vectors of its neighbours, by ascending sum.
        ledger: says that there is no guarantee.

    Raises:
        UserError: when the arrays do not fit each other.
    """

    epsilon: str
    vectors: NDArray[np.float32]
    indptr: NDArray[np.int64]
    rows: NDArray[np.float32]
    ledger: LedgerLine

    def __post_init__(self) -> None:
        require_entry(self.ledger, "structural matrices", report="structural matrix report")
        fits = self.vectors.ndim == 2 and self.rows.ndim == 2 and self.vectors.shape[1] == self.rows.shape[1]
        if not fits or len(self.indptr) != len(self.vectors) + 1 or self.indptr[-1] != len(self.rows):
            raise UserError("structural matrix report: vectors, rows and indptr do not fit each other")
        if self.indptr[0] != 0 or (np.diff(self.indptr) < 0).any():
            raise UserError("structural matrix report: indptr must start at 0 and never decrease")

    def save(self, path: Path) -> None:
        """Writes the report; equal reports give equal bytes."""
        write_arrays(
            path,
            {
                "epsilon": text_array(self.epsilon),
                "ledger": text_array(self.ledger.to_json()),
                "vectors": self.vectors,
                "indptr": self.indptr,
                "rows": self.rows,
            },
        )

    @classmethod
    def load(cls, path: Path) -> StructuralMatrixReport:
        """Reads what ``save`` wrote; UserError when it is damaged in any way."""
        arrays = read_arrays(path, _SPEC)
        with refusals_name(path):
            return cls(
                epsilon=array_text(arrays["epsilon"], path),
                vectors=arrays["vectors"],
                indptr=arrays["indptr"],
                rows=arrays["rows"],
                ledger=LedgerLine.from_json(array_text(arrays["ledger"], path)),
            )
