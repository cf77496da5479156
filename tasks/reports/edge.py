"""The report of neighbour lists: what the curator receives of the topology."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.epsilon import canonical_epsilon
from tasks.errors import UserError
from tasks.reports.archive import array_text, content_digest, read_arrays, refusals_name, text_array, write_arrays
from tasks.reports.edge_mode import EdgeMode, checked_mode
from tasks.reports.ledgers.entry import require_entry
from tasks.reports.ledgers.ledger import LedgerLine

_SPEC = {
    "mode": ("uint8", 1),
    "epsilon": ("uint8", 1),
    "ledger": ("uint8", 1),
    "indptr": ("int64", 1),
    "indices": ("int32", 1),
}


@dataclass(frozen=True, eq=False)
class EdgeReport:
    """Reported neighbour lists in compressed rows.

    Attributes:
        nodes: N.
        mode: ``directed`` (all N^2 bits), ``directed-no-diagonal`` (N(N-1) bits) or ``pair`` (N(N-1)/2 bits: the
            lower id reports, so row i holds ids above i only).
        epsilon: canonical budget of one bit.
        indptr: int64 (N+1,).
        indices: int32 (ones,), strictly increasing within a row.
        ledger: what the report costs.

    Raises:
        UserError: when the arrays do not describe such lists.
    """

    nodes: int
    mode: EdgeMode
    epsilon: str
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    ledger: LedgerLine

    def __post_init__(self) -> None:
        require_entry(self.ledger, "edges", report="edge report")
        checked_mode(self.mode)
        if canonical_epsilon(self.epsilon) != self.epsilon or self.ledger.epsilon != self.epsilon:
            raise UserError("edge report: the budget is not canonical or differs from the ledger line")
        indptr, indices = self.indptr, self.indices
        if indptr.dtype != np.int64 or indices.dtype != np.int32 or indptr.ndim != 1 or indices.ndim != 1:
            raise UserError("edge report: indptr must be int64 and indices int32, one-dimensional")
        if self.nodes < 1 or len(indptr) != self.nodes + 1 or indptr[0] != 0 or indptr[-1] != len(indices):
            raise UserError("edge report: indptr does not fit the node count and the indices")
        counts = np.diff(indptr)
        if len(counts) and counts.min() < 0:
            raise UserError("edge report: indptr decreases")
        if not len(indices):
            return
        if indices.min() < 0 or indices.max() >= self.nodes:
            raise UserError("edge report: a neighbour id is out of range")
        row_starts = np.zeros(len(indices) + 1, dtype=bool)
        row_starts[indptr] = True
        if not ((indices[1:] > indices[:-1]) | row_starts[1:-1]).all():
            raise UserError("edge report: a row is not strictly increasing")
        if self.mode == "directed":
            return
        rows = np.repeat(np.arange(self.nodes, dtype=np.int32), counts)
        if self.mode == "pair" and (indices <= rows).any():
            raise UserError("edge report: in pair mode a row holds higher ids only")
        if (indices == rows).any():
            raise UserError(f"edge report: mode {self.mode} has no diagonal")

    def adjacency(self) -> csr_array:
        """The reported graph, int8 (N, N), sorted; pair mode is mirrored and therefore symmetric."""
        shape = (self.nodes, self.nodes)
        data = np.ones(len(self.indices), dtype=np.int8)
        lists = csr_array((data, self.indices.copy(), self.indptr.copy()), shape=shape)
        if self.mode == "pair":
            lists = csr_array(lists + lists.T)
        lists.sort_indices()
        return lists

    def digest(self) -> str:
        """sha256 of the content, without the ledger line."""
        return content_digest({name: array for name, array in self._arrays().items() if name != "ledger"})

    def save(self, path: Path) -> None:
        """Writes the report; equal reports give equal bytes."""
        write_arrays(path, self._arrays())

    @classmethod
    def load(cls, path: Path) -> EdgeReport:
        """Reads what ``save`` wrote; UserError when it is damaged in any way."""
        arrays = read_arrays(path, _SPEC)
        with refusals_name(path):
            return cls(
                nodes=len(arrays["indptr"]) - 1,
                mode=checked_mode(array_text(arrays["mode"], path)),
                epsilon=array_text(arrays["epsilon"], path),
                indptr=arrays["indptr"],
                indices=arrays["indices"],
                ledger=LedgerLine.from_json(array_text(arrays["ledger"], path)),
            )

    def _arrays(self) -> dict[str, NDArray]:
        return {
            "mode": text_array(self.mode),
            "epsilon": text_array(self.epsilon),
            "ledger": text_array(self.ledger.to_json()),
            "indptr": self.indptr,
            "indices": self.indices,
        }
