"""Points of the hyper-parameter grid and the rule that chooses among them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from tasks.errors import UserError


@dataclass(frozen=True)
class HyperParameters:
    """One point: Adam's learning rate, dropout between the layers, L2 weight decay on every weight.

    Raises:
        UserError: for a value out of range.
    """

    learning_rate: float
    dropout: float
    weight_decay: float

    def __post_init__(self) -> None:
        if not 0 < self.learning_rate < float("inf"):
            raise UserError(f"learning_rate {self.learning_rate}: use a positive number")
        if not 0 <= self.dropout < 1:
            raise UserError(f"dropout {self.dropout}: use a share of at least 0 and below 1")
        if not 0 <= self.weight_decay < float("inf"):
            raise UserError(f"weight_decay {self.weight_decay}: use 0 or a positive number")


def grid(
    learning_rate: Iterable[float], dropout: Iterable[float], weight_decay: Iterable[float]
) -> tuple[HyperParameters, ...]:
    """The full product, learning rate slowest."""
    return tuple(HyperParameters(*point) for point in itertools.product(learning_rate, dropout, weight_decay))


@dataclass(frozen=True)
class ValidationScore:
    """Accuracy and mean cross-entropy on the validation nodes."""

    accuracy: float
    loss: float

    def beats(self, other: ValidationScore | None) -> bool:
        """Higher accuracy, or the same accuracy and a lower loss; the rule for epochs and points alike.

        On a full tie the earlier one stays.
        """
        return other is None or (self.accuracy, -self.loss) > (other.accuracy, -other.loss)
