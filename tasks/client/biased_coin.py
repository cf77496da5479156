"""Coins of a stated bias, decided by comparing integers: no floating point between the budget and the flip.

A coin that lands on the rare side with p = 1/(1+e^eps) is a uniform integer word compared with a threshold, the
rational p rounded *up* to a multiple of 2^-bits. Rounding up adds noise, so the realised budget
ln((1-p)/p) never exceeds eps. Floating-point coins have no such order and have leaked in practice
(Mironov, CCS 2012).

What is rounded: e^(eps/shares) to 120 digits, far below the 2^-bits that rounding up adds; a 64-bit coin is off by less
than 2^-64, a 128-bit one by less than 2^-128, always towards more noise. Between the coins lie no floats.

What remains an assumption: that the curator cannot predict the words (``tasks.client.noise_source``), and that he does
not time the draws: rejection and skips make their duration depend on what is drawn.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


@lru_cache(maxsize=256)
def rare_side(epsilon: str, bits: int, shares: int = 1) -> int:
    """Ceiling of 2^bits / (1 + e^(epsilon/shares)), at least 1.

    Args:
        epsilon: canonical finite budget.
        bits: width of the uniform words that are compared.
        shares: number of coins that the budget is divided among.
    """
    with localcontext() as context:
        context.prec = 120
        share = Decimal(epsilon) / shares
        if share > bits:  # e^-bits < 2^-bits
            return 1
        exact = Fraction(1) / (1 + Fraction(share.exp()))
    return -((-exact.numerator << bits) // exact.denominator)


def uniform_words(rng: np.random.Generator, shape: int | tuple[int, ...]) -> NDArray[np.uint64]:
    """Independent uniform 64-bit words."""
    return rng.integers(0, 2**64 - 1, size=shape, dtype=np.uint64, endpoint=True)
