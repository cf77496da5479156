"""The report of noisy degrees: one integer a device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError
from tasks.reports.archive import array_text, content_digest, read_arrays, refusals_name, text_array, write_arrays
from tasks.reports.ledgers.entry import require_entry
from tasks.reports.ledgers.ledger import LedgerLine

_SPEC = {"epsilon": ("uint8", 1), "ledger": ("uint8", 1), "degrees": ("int64", 1)}


@dataclass(frozen=True, eq=False)
class DegreeReport:
    """Reported degrees.

    Attributes:
        epsilon: canonical budget.
        degrees: int64 (V,), as drawn: they may be negative or above V-1.
        ledger: what the report costs.

    Raises:
        UserError: when the array is no such vector.
    """

    epsilon: str
    degrees: NDArray[np.int64]
    ledger: LedgerLine

    def __post_init__(self) -> None:
        require_entry(self.ledger, "degree", report="degree report", epsilon=self.epsilon)
        if self.degrees.dtype != np.int64 or self.degrees.ndim != 1 or not len(self.degrees):
            raise UserError("degree report: degrees must be int64, one for each vertex")

    @property
    def nodes(self) -> int:
        """V."""
        return len(self.degrees)

    def digest(self) -> str:
        """sha256 of the content, without the ledger line."""
        return content_digest({"epsilon": text_array(self.epsilon), "degrees": self.degrees})

    def save(self, path: Path) -> None:
        """Writes the report; equal reports give equal bytes."""
        epsilon, ledger = text_array(self.epsilon), text_array(self.ledger.to_json())
        write_arrays(path, {"epsilon": epsilon, "ledger": ledger, "degrees": self.degrees})

    @classmethod
    def load(cls, path: Path) -> DegreeReport:
        """Reads what ``save`` wrote; UserError when it is damaged in any way."""
        arrays = read_arrays(path, _SPEC)
        with refusals_name(path):
            ledger = LedgerLine.from_json(array_text(arrays["ledger"], path))
            return cls(array_text(arrays["epsilon"], path), arrays["degrees"], ledger)
