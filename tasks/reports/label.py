"""The labels that the curator knows: those of the training and validation nodes, in clear."""

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
    "ledger": ("uint8", 1),
    "classes": ("int64", 0),
    "train_nodes": ("int64", 1),
    "train_labels": ("int64", 1),
    "validation_nodes": ("int64", 1),
    "validation_labels": ("int64", 1),
}


@dataclass(frozen=True, eq=False)
class LabelReport:
    """Labels of the training and validation nodes; test labels never enter one.

    Attributes:
        train_nodes, train_labels: int64 (n,) node ids, strictly increasing, and their classes.
        validation_nodes, validation_labels: the same for validation, disjoint from training.
        classes: C; labels lie in [0, C).
        ledger: says that labels carry no guarantee.

    Raises:
        UserError: when the arrays do not describe such labels.
    """

    train_nodes: NDArray[np.int64]
    train_labels: NDArray[np.int64]
    validation_nodes: NDArray[np.int64]
    validation_labels: NDArray[np.int64]
    classes: int
    ledger: LedgerLine

    def __post_init__(self) -> None:
        require_entry(self.ledger, "labels", report="label report")
        if self.classes < 1:
            raise UserError("label report: at least one class is needed")
        for role in ("train", "validation"):
            nodes, labels = getattr(self, f"{role}_nodes"), getattr(self, f"{role}_labels")
            if nodes.dtype != np.int64 or labels.dtype != np.int64 or nodes.ndim != 1 or nodes.shape != labels.shape:
                raise UserError(f"label report: {role} nodes and labels must be int64 and of one length")
            if len(nodes) and (nodes[0] < 0 or (np.diff(nodes) <= 0).any()):
                raise UserError(f"label report: {role} nodes must be strictly increasing ids")
            if len(labels) and (labels.min() < 0 or labels.max() >= self.classes):
                raise UserError(f"label report: a {role} label is out of range")
        if len(np.intersect1d(self.train_nodes, self.validation_nodes)):
            raise UserError("label report: training and validation nodes overlap")

    def digest(self) -> str:
        """sha256 of the content, without the ledger line."""
        return content_digest({name: array for name, array in self._arrays().items() if name != "ledger"})

    def save(self, path: Path) -> None:
        """Writes the report; equal reports give equal bytes."""
        write_arrays(path, self._arrays())

    @classmethod
    def load(cls, path: Path) -> LabelReport:
        """Reads what ``save`` wrote; UserError when it is damaged in any way."""
        arrays = read_arrays(path, _SPEC)
        with refusals_name(path):
            return cls(
                train_nodes=arrays["train_nodes"],
                train_labels=arrays["train_labels"],
                validation_nodes=arrays["validation_nodes"],
                validation_labels=arrays["validation_labels"],
                classes=int(arrays["classes"]),
                ledger=LedgerLine.from_json(array_text(arrays["ledger"], path)),
            )

    def _arrays(self) -> dict[str, NDArray]:
        return {
            "ledger": text_array(self.ledger.to_json()),
            "classes": np.array(self.classes, dtype=np.int64),
            "train_nodes": self.train_nodes,
            "train_labels": self.train_labels,
            "validation_nodes": self.validation_nodes,
            "validation_labels": self.validation_labels,
        }
