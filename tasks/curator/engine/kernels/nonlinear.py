"""SELU, its slope and the exponential on vectors, from plain arithmetic: the same bits on every machine."""

from __future__ import annotations

from typing import Any

from numba import njit, types
from numba.extending import overload

from tasks.curator.engine.kernels.vectors import fma, larger, power_of_two, where_positive, whole

# Klambauer et al., NeurIPS 2017.
SELU_SCALE = 1.0507009873554804934193349852946
SELU_FLOOR = SELU_SCALE * 1.6732632423543772848170429916717

LOG2_E = 1.4426950408889634
# ln 2 = HIGH + LOW, HIGH with so few bits that n * HIGH is exact for the n that occur.
HIGH, LOW = 0.693145751953125, 1.4286068203094172321e-06
LOWEST = -80.0


@njit(inline="always")
def exponential(x: Any) -> Any:
    """exp(x) for x <= 0 to a few units in the last place; what is below -80 counts as -80; NaN stays NaN."""
    x = larger(LOWEST, x)
    n = whole(x * LOG2_E)
    return _series((x - n * HIGH) - n * LOW) * power_of_two(n)


@njit(inline="always")
def selu(x: Any) -> Any:
    """The self-normalising unit."""
    return where_positive(x, x * SELU_SCALE, (exponential(x - larger(0.0, x)) - 1.0) * SELU_FLOOR)


@njit(inline="always")
def selu_slope(y: Any) -> Any:
    """Its derivative where its value is ``y``."""
    return where_positive(y, SELU_SCALE, y + SELU_FLOOR)


def _series(r: Any) -> Any:
    raise NotImplementedError


@overload(_series, inline="always")
def _series_of(r: Any) -> Any:
    """exp on [-ln 2 / 2, ln 2 / 2] by Taylor's series, as long as the type needs."""

    def short(r: Any) -> Any:
        s = fma(r, r * (1 / 5040) + 1 / 720, 1 / 120)
        s = fma(r, fma(r, s, 1 / 24), 1 / 6)
        return fma(r, fma(r, fma(r, s, 0.5), 1.0), 1.0)

    def long(r: Any) -> Any:
        s = r * (1 / 6227020800) + 1 / 479001600
        s = fma(r, fma(r, s, 1 / 39916800), 1 / 3628800)
        s = fma(r, fma(r, s, 1 / 362880), 1 / 40320)
        s = fma(r, fma(r, s, 1 / 5040), 1 / 720)
        s = fma(r, fma(r, s, 1 / 120), 1 / 24)
        s = fma(r, fma(r, s, 1 / 6), 0.5)
        return fma(r, fma(r, s, 1.0), 1.0)

    return long if r.dtype == types.float64 else short
