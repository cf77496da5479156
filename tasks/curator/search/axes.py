"""Grids of hyper-parameters: the paper's, and a wider one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, fields

from tasks.curator.hyper_parameters import HyperParameters
from tasks.errors import UserError


@dataclass(frozen=True)
class Axes:
    """Values of every hyper-parameter; the grid is their product, the learning rate slowest.

    Raises:
        UserError: for an axis without values or with a value twice.
    """

    learning_rate: tuple[float, ...]
    dropout: tuple[float, ...]
    weight_decay: tuple[float, ...]
    l_x: tuple[int, ...] = (0,)
    l_y: tuple[int, ...] = (0,)
    lambda1: tuple[float, ...] = (0.0,)
    lambda2: tuple[float, ...] = (0.0,)

    def __post_init__(self) -> None:
        for axis in fields(self):
            values = getattr(self, axis.name)
            if not values or len(set(values)) < len(values):
                raise UserError(f"{axis.name}: give each value once, and at least one")

    def configurations(self, *, l_x: bool, l_y: bool, joint: bool) -> tuple[HyperParameters, ...]:
        """The grid of a method that has feature smoothing, label smoothing, a learned graph; 0 where it has not."""
        values: list[Iterable[float]] = [self.learning_rate, self.dropout, self.weight_decay]
        values += [self.l_x if l_x else (0,), self.l_y if l_y else (0,)]
        values += [self.lambda1 if joint else (0.0,), self.lambda2 if joint else (0.0,)]
        return tuple(HyperParameters(*chosen) for chosen in itertools.product(*values))  # type: ignore[arg-type]


_DECADES = (1e-4, 1e-3, 1e-2, 1e-1)

AXES: dict[str, Axes] = {
    # Solitude, section VI: 16,384 configurations with a learned graph, 1,024 without.
    "paper": Axes(
        learning_rate=_DECADES,
        dropout=_DECADES,
        weight_decay=_DECADES,
        l_x=(0, 2, 4, 8),
        l_y=(0, 2, 4, 8),
        lambda1=(1e-5, 1e-4, 1e-3, 1e-2),
        lambda2=(1e-5, 1e-4, 1e-3, 1e-2),
    ),
    # After LPGNN (Sajadmanesh & Gatica-Perez, CCS 2021): dropout that drops, no weight decay, more smoothing.
    "lpgnn": Axes(
        learning_rate=(1e-3, 1e-2, 1e-1),
        dropout=(0.0, 0.25, 0.5, 0.75),
        weight_decay=(0.0, 1e-4, 1e-3, 1e-2, 1e-1),
        l_x=(0, 2, 4, 8, 16),
        l_y=(0, 2, 4, 8, 16),
        lambda1=(1e-5, 1e-4, 1e-3, 1e-2),
        lambda2=(1e-5, 1e-4, 1e-3, 1e-2),
    ),
}


def axes_named(name: str) -> Axes:
    """A preset; UserError for an unknown one."""
    if name not in AXES:
        raise UserError(f"search grid {name!r} is unknown; use one of {', '.join(AXES)}")
    return AXES[name]
