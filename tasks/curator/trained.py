"""What training hands to evaluation: predictions, weights and the search table, with its file form."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tasks.curator.hyper_parameters import HyperParameters

CONFIGURATION_COLUMNS = tuple(field.name for field in fields(HyperParameters))
SEARCH_COLUMNS = (*CONFIGURATION_COLUMNS, "chosen_epoch", "validation_accuracy", "validation_loss")


@dataclass(frozen=True)
class Trained:
    """The chosen model of one (reports, backbone, repeat).

    ``log_probabilities`` is (N, classes) float32; ``weights`` maps names to arrays, matrices as (inputs, outputs), and
    holds ``edge_weights`` where the graph was learned; ``search`` has one row per configuration with ``SEARCH_COLUMNS``
    and what the search adds, validation metrics only; ``chosen`` is the row taken.
    """

    backbone: str
    log_probabilities: NDArray[np.float32]
    weights: dict[str, NDArray[np.float32]]
    search: pd.DataFrame
    chosen: int

    @property
    def hyper_parameters(self) -> HyperParameters:
        """The configuration that was chosen."""
        return HyperParameters(*(self.search[name].iloc[self.chosen].item() for name in CONFIGURATION_COLUMNS))

    def save(self, path: Path) -> None:
        """Writes an npz file; the same values give the same bytes."""
        arrays = {
            "backbone": np.array(self.backbone),
            "chosen": np.array(self.chosen, dtype=np.int64),
            "log_probabilities": self.log_probabilities,
        }
        arrays |= {f"weights.{name}": value for name, value in self.weights.items()}
        arrays |= {f"search.{name}": self.search[name].to_numpy() for name in self.search.columns}
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
            search=pd.DataFrame(
                {key.removeprefix("search."): arrays[key] for key in arrays if key.startswith("search.")}
            ),
            chosen=int(arrays["chosen"]),
        )
