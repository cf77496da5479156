"""The discrete Laplace mechanism on integers, sampled exactly.

Law: P[Z = z] = (1 - q) / (1 + q) * q^|z| with q = e^(-epsilon/sensitivity). Shifting the law by d multiplies any
probability by at most e^(epsilon * |d| / sensitivity); independent noise on every cell of a vector therefore gives
epsilon-differential privacy when the cells change by at most ``sensitivity`` in sum (Ghosh, Roughgarden and
Sundararajan, STOC 2009).

Sampler (Canonne, Kamath and Steinke, NeurIPS 2020, algorithms 1 and 2): the budget is read as an exact fraction
s/t of its decimal spelling and every decision compares uniform integers, so no rounding touches the law. The integers
themselves are exactly uniform (drawn by rejection). A draw's duration depends on its size, which is not hidden.
With U uniform below t and kept with probability e^(-U/t), and V the number of successes at e^-1 before a failure,
P[U + tV = x] is proportional to e^(-x/t); the quotient by s is geometric with ratio e^(-s/t); a sign, with the
second zero refused, makes it two-sided.

OpenDP has this mechanism, but takes no seed, needs 8 microseconds a draw, and its library weighs 263 MB.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.epsilon import INFINITE
from tasks.errors import UserError

LARGEST_TERM = 2**48
"""Limit of numerator and denominator: products with the few dozens that loop counters reach stay below 2^63."""


def with_discrete_laplace(
    values: NDArray[np.int64], epsilon: str, *, sensitivity: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """``values`` plus independent noise of scale sensitivity/epsilon; ``"inf"`` returns them unchanged.

    Args:
        values: int64, any shape; drawn for in C order.
        epsilon: canonical budget.
        sensitivity: the largest sum of absolute changes between neighbouring inputs.
        rng: source of uniform integers.

    Raises:
        UserError: when the budget has more digits than the exact sampler can hold.
    """
    if epsilon == INFINITE:
        return values.copy()
    rate = Fraction(epsilon) / sensitivity
    if max(rate.numerator, rate.denominator) > LARGEST_TERM:
        raise UserError(f"epsilon {epsilon} has too many digits for exact integer noise; round it to 12 digits")
    return values + _noise(rng, values.size, rate.numerator, rate.denominator).reshape(values.shape)


@njit(nogil=True)
def _noise(rng: np.random.Generator, size: int, s: int, t: int) -> NDArray[np.int64]:
    noise = np.empty(size, dtype=np.int64)
    for position in range(size):
        noise[position] = _draw(rng, s, t)
    return noise


@njit
def _draw(rng: np.random.Generator, s: int, t: int) -> int:
    while True:
        rest = int(rng.integers(0, t))
        if not _exponential_coin(rng, rest, t):
            continue
        whole = 0
        while _exponential_coin(rng, 1, 1):
            whole += 1
        size = (rest + t * whole) // s
        negative = rng.integers(0, 2) == 1
        if negative and size == 0:
            continue
        return -size if negative else size


@njit
def _exponential_coin(rng: np.random.Generator, numerator: int, denominator: int) -> bool:
    """True with probability e^(-numerator/denominator), for a ratio in [0, 1]."""
    trial = 1
    while rng.integers(0, trial * denominator) < numerator:
        trial += 1
    return trial % 2 == 1
