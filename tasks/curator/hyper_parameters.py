"""Configurations of the hyper-parameter grid and the rule that chooses among them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from tasks.errors import UserError


@dataclass(frozen=True)
class HyperParameters:
    """One configuration: Adam's learning rate, dropout between the layers, L2 weight decay, and calibration.

    ``l_x`` and ``l_y`` are the steps of feature and label smoothing (Solitude, eqs. 11, 12), ``lambda1`` and
    ``lambda2`` the penalties of the learned graph (eq. 14); 0 where a method has none.

    Raises:
        UserError: for a value out of range.
    """

    learning_rate: float
    dropout: float
    weight_decay: float
    l_x: int = 0
    l_y: int = 0
    lambda1: float = 0.0
    lambda2: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.learning_rate < float("inf"):
            raise UserError(f"learning_rate {self.learning_rate}: use a positive number")
        if not 0 <= self.dropout < 1:
            raise UserError(f"dropout {self.dropout}: use a share of at least 0 and below 1")
        for name in ("weight_decay", "lambda1", "lambda2"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise UserError(f"{name} {getattr(self, name)}: use 0 or a positive number")
        for name in ("l_x", "l_y"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 0:
                raise UserError(f"{name} {getattr(self, name)}: use 0 or a positive whole number")


def grid(
    learning_rate: Iterable[float], dropout: Iterable[float], weight_decay: Iterable[float]
) -> tuple[HyperParameters, ...]:
    """The full product, learning rate slowest."""
    return tuple(HyperParameters(*values) for values in itertools.product(learning_rate, dropout, weight_decay))


@dataclass(frozen=True)
class ValidationScore:
    """Accuracy and mean cross-entropy on the validation nodes."""

    accuracy: float
    loss: float

    def beats(self, other: ValidationScore | None) -> bool:
        """Higher accuracy, or the same accuracy and a lower loss; the rule for epochs and configurations alike.

        On a full tie the earlier one stays.
        """
        return other is None or (self.accuracy, -self.loss) > (other.accuracy, -other.loss)
