"""The best model of a repeat so far, while others still train."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from tasks.curator.hyper_parameters import ValidationScore


class BestModel:
    """Keeps the weights of one model: the best by validation, of equals the earliest and its first epoch.

    The order is total, so the outcome does not depend on which model happens to train first.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.score: ValidationScore | None = None
        self.position = (0, 0)
        self.weights: dict[str, NDArray[Any]] = {}

    @property
    def configuration(self) -> int:
        """Index of the best model's configuration in the list."""
        return self.position[0]

    def offer(
        self, score: ValidationScore, configuration: int, epoch: int, weights: Callable[[], dict[str, Any]]
    ) -> None:
        """Takes the model if it is better; only then are its weights copied."""
        with self._lock:
            earlier = score == self.score and (configuration, epoch) < self.position
            if score.beats(self.score) or earlier:
                self.score, self.position, self.weights = score, (configuration, epoch), weights()
