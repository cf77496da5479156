"""What a client sends in a round of federated training: weights in clear, and how the broadcast validated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError
from tasks.reports.archive import array_text, content_digest, read_arrays, refusals_name, text_array, write_arrays
from tasks.reports.ledgers.entry import require_entry
from tasks.reports.ledgers.ledger import LedgerLine

_SPEC = {
    "ledger": ("uint8", 1),
    "header": ("int64", 1),
    "validation_counts": ("int64", 1),
    "validation_loss": ("float64", 0),
    "values": ("float32", 1),
}


@dataclass(frozen=True)
class ValidationCounts:
    """How given weights did on one client's validation graphs (or nodes).

    Attributes:
        examples: how many there are; a client may have none.
        hits: how many were classified correctly.
        loss: sum of their cross-entropies.

    Raises:
        UserError: for counts that cannot be.
    """

    examples: int = 0
    hits: int = 0
    loss: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.examples or math.isnan(self.loss) or self.loss < 0:
            raise UserError("model update: the validation counts are out of range; the training may have diverged")

    def __add__(self, other: ValidationCounts) -> ValidationCounts:
        return ValidationCounts(self.examples + other.examples, self.hits + other.hits, self.loss + other.loss)


@dataclass(frozen=True, eq=False)
class ModelUpdate:
    """One client's answer to one broadcast.

    Attributes:
        client: the client's number.
        round: of the broadcast that it answers.
        examples: training graphs (or nodes) behind the update, its weight in the average; 0 for none.
        values: float32 (P,), all weights after local training, batch-norm statistics included.
        validation: of the broadcast, before local training.
        ledger: says that there is no guarantee; the same line for all updates of one training.

    Raises:
        UserError: for negative numbers or a wrong form.
    """

    client: int
    round: int
    examples: int
    values: NDArray[np.float32]
    validation: ValidationCounts
    ledger: LedgerLine

    def __post_init__(self) -> None:
        require_entry(self.ledger, "training", report="model update")
        if min(self.client, self.round, self.examples) < 0:
            raise UserError("model update: client, round and examples must not be negative")
        if self.values.dtype != np.float32 or self.values.ndim != 1:
            raise UserError("model update: the values must be a float32 vector")

    def digest(self) -> str:
        """sha256 of the content, without the ledger line."""
        return content_digest({name: array for name, array in self._arrays().items() if name != "ledger"})

    def save(self, path: Path) -> None:
        """Writes the update; equal updates give equal bytes."""
        write_arrays(path, self._arrays())

    @classmethod
    def load(cls, path: Path) -> ModelUpdate:
        """Reads what ``save`` wrote; UserError when it is damaged in any way."""
        arrays = read_arrays(path, _SPEC)
        with refusals_name(path):
            if arrays["header"].shape != (3,) or arrays["validation_counts"].shape != (2,):
                raise UserError("model update: header or validation counts have the wrong length")
            client, number, examples = arrays["header"].tolist()
            validated, hits = arrays["validation_counts"].tolist()
            return cls(
                client=client,
                round=number,
                examples=examples,
                values=arrays["values"],
                validation=ValidationCounts(validated, hits, float(arrays["validation_loss"])),
                ledger=LedgerLine.from_json(array_text(arrays["ledger"], path)),
            )

    def _arrays(self) -> dict[str, NDArray]:
        counts = self.validation
        return {
            "ledger": text_array(self.ledger.to_json()),
            "header": np.array([self.client, self.round, self.examples], dtype=np.int64),
            "validation_counts": np.array([counts.examples, counts.hits], dtype=np.int64),
            "validation_loss": np.array(counts.loss, dtype=np.float64),
            "values": self.values,
        }
