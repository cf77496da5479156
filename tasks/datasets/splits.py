"""Train, validation and test nodes: drawn once per repeat, saved, shared by every method."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.errors import UserError

ROLES = ("train", "validation", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """Three disjoint sets of node (or graph) numbers, each int64 of shape (k,), ascending.

    Raises:
        ValueError: when an array has another form, or two of them share a node.
    """

    train: NDArray[np.int64] = field(repr=False)
    validation: NDArray[np.int64] = field(repr=False)
    test: NDArray[np.int64] = field(repr=False)

    def __post_init__(self) -> None:
        for role in ROLES:
            part = getattr(self, role)
            if not isinstance(part, np.ndarray) or part.dtype != np.int64 or part.ndim != 1:
                raise ValueError(f"split: {role} must be an int64 vector")
            if len(part) and (part[0] < 0 or (np.diff(part) <= 0).any()):
                raise ValueError(f"split: {role} must be ascending node numbers, each once")
        everyone = np.concatenate([self.train, self.validation, self.test])
        if len(np.unique(everyone)) != len(everyone):
            raise ValueError("split: a node is in two parts")

    def save(self, path: Path) -> None:
        """Writes an npz file, the same bytes for the same split."""
        with Path(path).open("wb") as file:
            np.savez(file, train=self.train, validation=self.validation, test=self.test)

    @classmethod
    def load(cls, path: Path) -> Split:
        """Reads what ``save`` wrote.

        Raises:
            UserError: when the file is missing or damaged.
        """
        try:
            with np.load(path, allow_pickle=False) as stored:
                return cls(*(stored[role] for role in ROLES))
        except Exception as error:  # foreign bytes raise nearly anything
            raise UserError(f"{path}: not a readable split; delete it to draw it again") from error


def random_split(
    labels: NDArray[np.int64] | csr_array,
    rng: np.random.Generator,
    fractions: tuple[float, float, float] = (0.5, 0.25, 0.25),
) -> Split:
    """Deals the labelled nodes to the three roles, uniformly at random.

    Nodes without a label are in no part: their class is unknown, so they can neither train nor score.

    Args:
        labels: (N,) classes with -1 for unknown, or (N, L) label sets (a node with an empty set is unlabelled).
        rng: source of the permutation.
        fractions: shares of train, validation and test; positive or zero, summing to 1.
    """
    if min(fractions) < 0 or abs(sum(fractions) - 1.0) > 1e-9:
        raise UserError(f"split fractions {fractions} must be shares that sum to 1")
    labelled = np.flatnonzero(np.diff(labels.indptr) if isinstance(labels, csr_array) else labels >= 0)
    order = rng.permutation(labelled.astype(np.int64))
    ends = np.rint(np.cumsum(fractions[:2]) * len(order)).astype(int)
    return Split(*(np.sort(part) for part in np.split(order, ends)))
