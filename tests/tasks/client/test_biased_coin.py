from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from tasks.client.biased_coin import rare_side, uniform_words
from tasks.seeds import generator


def exp_between(x: Fraction, terms: int = 200) -> tuple[Fraction, Fraction]:
    """Rational bounds of e^x for 0 <= x <= 40: the Taylor sum and the sum plus twice its last term."""
    total = term = Fraction(1)
    for k in range(1, terms):
        term = term * x / k
        total += term
    return total, total + 2 * term


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize(("epsilon", "shares"), [("0.5", 1), ("1", 1), ("7", 1), ("7.3", 1), ("40", 1), ("5", 2)])
def test_threshold_is_the_rational_rounded_up(epsilon: str, shares: int, bits: int) -> None:
    low, high = exp_between(Fraction(epsilon) / shares)
    threshold = rare_side(epsilon, bits, shares)
    assert Fraction(threshold, 2**bits) >= 1 / (1 + high)
    assert Fraction(threshold - 1, 2**bits) < 1 / (1 + low)


@given(st.decimals("0.000001", "1000000", allow_nan=False, places=6).map(lambda d: format(d.normalize(), "f")))
def test_threshold_stays_on_the_rare_side(epsilon: str) -> None:
    assert 1 <= rare_side(epsilon, 64) <= 2**63


def test_words_fill_all_bits_uniformly() -> None:
    words = uniform_words(generator(3), 20_000)
    ones = np.array([int(((words >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)])
    statistic = (((ones - 10_000) ** 2) / 5_000).sum()
    assert chi2.ppf(1e-7, 64) < statistic < chi2.isf(1e-7, 64)
