"""Feature vectors that an audit reports: pairs of vectors of many kinds, as places t in [0, 1] between the bounds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tasks.seeds import generator

Pairs = NDArray[np.float64]
"""(kinds, 2, d): the vector under the first and under the second input."""
STRONGEST = 3
"""The first kinds, whose cells all lie at opposite bounds; the others differ in less, or somewhere inside."""
GRID = 8
"""Steps of a likelihood ratio on either side of 0."""


def vector_pairs(dimensions: int) -> Pairs:
    """Opposite bounds and their mixture; single entries; ramps; constants inside; random inner values."""
    rng = generator(dimensions)
    zeros, ones, ramp = np.zeros(dimensions), np.ones(dimensions), np.linspace(0, 1, dimensions)
    bits, inner = rng.integers(0, 2, dimensions).astype(float), rng.random(dimensions)
    first, middle, last = np.eye(dimensions)[[0, dimensions // 2, -1]]
    return np.array(
        [
            (zeros, ones),
            (ones, zeros),
            (bits, 1 - bits),
            (first, last if dimensions > 1 else zeros),
            (zeros, first),
            (zeros, middle),
            (ones, ones - last),
            (ramp, ramp[::-1]) if dimensions > 1 else (zeros, ones),
            (ones / 4, ones * 3 / 4),
            (ones / 2, ones),
            (ones / 2, zeros),
            (ones * 0.99, ones * 0.01),
            (inner, 1 - inner),
            (inner, zeros),
        ]
    )


def population(kinds: int, users: int) -> NDArray[np.int64]:
    """int64 (users,): the kind of every user; three in four have one of the strongest, in turn."""
    weak = np.arange(users) // 4 % (kinds - STRONGEST) + STRONGEST
    return np.where(np.arange(users) % 4 == 3, weak, np.arange(users) % 4)


def sign_ratios(cells: NDArray, share: float) -> NDArray[np.float64]:
    """Log likelihood ratios of the signs -1 and +1, the second input's probability over the first's, by the law.

    Args:
        cells: places t, (..., 2, d) as in ``Pairs``.
        share: the budget of one sign.

    Returns:
        (..., d, 2).
    """
    up = (1 + cells * math.expm1(share)) / (math.exp(share) + 1)
    return np.stack([np.log1p(-up[..., 1, :]) - np.log1p(-up[..., 0, :]), np.log(up[..., 1, :] / up[..., 0, :])], -1)


def on_grid(ratios: NDArray[np.float64], epsilon: float) -> tuple[NDArray[np.int64], int]:
    """Ratios in [-epsilon, epsilon] as a column for ``joined``."""
    return np.rint(ratios / epsilon * GRID).astype(np.int64) + GRID, 2 * GRID + 1
