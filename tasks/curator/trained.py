"""What training hands to evaluation: predictions, weights and the search table, with its file form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tasks.curator.hyper_parameters import HyperParameters

SEARCH_COLUMNS = ("learning_rate", "dropout", "weight_decay", "chosen_epoch", "validation_accuracy", "validation_loss")


@dataclass(frozen=True)
class Trained:
    """The chosen model of one (reports, backbone, repeat).

    ``log_probabilities`` is (N, classes) float32; ``weights`` maps names to arrays, matrices as (inputs, outputs);
    ``search`` has one row per grid point with ``SEARCH_COLUMNS``, validation metrics only; ``chosen`` is the row taken.
    """

    backbone: str
    log_probabilities: NDArray[np.float32]
    weights: dict[str, NDArray[np.float32]]
    search: pd.DataFrame
    chosen: int

    @property
    def hyper_parameters(self) -> HyperParameters:
        """The point that was chosen."""
        return HyperParameters(*(float(self.search[name].iloc[self.chosen]) for name in SEARCH_COLUMNS[:3]))

    def save(self, path: Path) -> None:
        """Writes an npz file; the same values give the same bytes."""
        arrays = {
            "backbone": np.array(self.backbone),
            "chosen": np.array(self.chosen, dtype=np.int64),
            "log_probabilities": self.log_probabilities,
        }
        arrays |= {f"weights.{name}": value for name, value in self.weights.items()}
        arrays |= {f"search.{name}": self.search[name].to_numpy() for name in SEARCH_COLUMNS}
        with path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: Path) -> Trained:
        """Reads what ``save`` wrote."""
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        return cls(
            backbone=str(arrays["backbone"]),
            log_probabilities=arrays["log_probabilities"],
            weights={key.removeprefix("weights."): arrays[key] for key in arrays if key.startswith("weights.")},
            search=pd.DataFrame({name: arrays[f"search.{name}"] for name in SEARCH_COLUMNS}),
            chosen=int(arrays["chosen"]),
        )
