"""Weights of the shared network, as the curator sends them to every client."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError
from tasks.models.graph_architecture import GraphArchitecture
from tasks.reports.archive import array_text, content_digest, read_arrays, text_array, write_arrays

_SPEC = {"architecture": ("uint8", 1), "round": ("int64", 0), "values": ("float32", 1)}


@dataclass(frozen=True, eq=False)
class ModelWeights:
    """One broadcast.

    Attributes:
        architecture: the network that the values belong to.
        round: number of rounds of training behind it; 0 for the first weights.
        values: float32 (P,), in the order of ``GraphArchitecture.weight_shapes``.

    Raises:
        UserError: when the values do not fit the network or are not finite.
    """

    architecture: GraphArchitecture
    round: int
    values: NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.values.dtype != np.float32 or self.values.shape != (self.architecture.size,):
            raise UserError(f"model weights: the network takes {self.architecture.size} float32 values")
        if not np.isfinite(self.values).all():
            raise UserError(f"model weights: training diverged in round {self.round}; lower the learning rate")

    def digest(self) -> str:
        """sha256 of the content."""
        return content_digest(self._arrays())

    def save(self, path: Path) -> None:
        """Writes the weights; equal weights give equal bytes."""
        write_arrays(path, self._arrays())

    @classmethod
    def load(cls, path: Path) -> ModelWeights:
        """Reads what ``save`` wrote; UserError when it is damaged in any way."""
        arrays = read_arrays(path, _SPEC)
        try:
            architecture = GraphArchitecture(**json.loads(array_text(arrays["architecture"], path)))
            return cls(architecture, int(arrays["round"]), arrays["values"])
        except (UserError, ValueError, TypeError) as error:
            raise UserError(f"{path}: no sound weights ({error}); train again") from None

    def _arrays(self) -> dict[str, NDArray]:
        return {
            "architecture": text_array(json.dumps(asdict(self.architecture), sort_keys=True)),
            "round": np.array(self.round, dtype=np.int64),
            "values": self.values,
        }
