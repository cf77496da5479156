"""Kernels e^{-gamma D} from distances between graphs, over a grid of gamma."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError

GammaUnit = Literal["median", "raw"]
GAMMAS: tuple[float, ...] = tuple(2.0**k for k in range(-10, 11))

Candidate = tuple[dict[str, float], NDArray[np.float64]]
"""Settings of a kernel and its columns (G, T), similarities to the training graphs."""


def distance_unit(distances: NDArray[np.float64], train: NDArray[np.int64], unit: GammaUnit) -> float:
    """What gamma is counted in: 1 over the median distance of two training graphs, or 1 for ``raw``.

    Where more than half of the pairs are at 0, the mean takes the median's place; where all are, 1.

    Raises:
        UserError: for an unknown unit.
    """
    if unit not in get_args(GammaUnit):
        raise UserError(f"gamma_unit: {unit!r} is unknown; use one of {', '.join(get_args(GammaUnit))}")
    if unit == "raw" or len(train) < 2:
        return 1.0
    pairs = distances[np.ix_(train, train)][np.triu_indices(len(train), k=1)]
    return float(np.median(pairs)) or float(pairs.mean()) or 1.0


def gromov_kernels(
    distances: Mapping[float, NDArray[np.float64]],
    train: NDArray[np.int64],
    *,
    gammas: Sequence[float] = GAMMAS,
    unit: GammaUnit = "median",
) -> Iterator[Candidate]:
    """Every kernel to choose from, made when its turn comes.

    Args:
        distances: symmetric (G, G) by alpha, the weight of the structure; {1.0: D} for plain Gromov-Wasserstein or
            the node-count control.
        train: int64 (T,), the training graphs.
        gammas: bandwidths, in the unit.
        unit: ``median`` or ``raw``.

    Raises:
        UserError: for distances that are not finite or negative.
    """
    for alpha, matrix in distances.items():
        if not (np.isfinite(matrix) & (matrix >= 0)).all():
            raise UserError("a distance between graphs is negative or NaN; solve the pairs again")
        scaled = matrix[:, train] / distance_unit(matrix, train, unit)
        for gamma in gammas:
            yield {"alpha": float(alpha), "gamma": float(gamma)}, np.exp(-gamma * scaled)
