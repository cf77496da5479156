"""Random draws addressed by counters: the same key, stream and slot give the same number in any order of evaluation.

SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) read as a function of its counter. A walk owns a stream and every
decision in it a slot, so a compiled loop over walks on any number of threads and a device-by-device simulation
draw the same numbers. Like numpy's PCG64 it passes statistical tests and is no cryptographic generator: what carries a
guarantee draws from its own source instead (``tasks.client.noise_source``); whole walks carry none.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53


def draw_key(rng: np.random.Generator) -> np.uint64:
    """A fresh 64-bit key for the functions below."""
    return np.uint64(rng.integers(0, 2**64, dtype=np.uint64))


@njit(inline="always")
def mixed(word: np.uint64) -> np.uint64:
    """SplitMix64's finaliser, a bijection of 64-bit words."""
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@njit
def stream(key: np.uint64, number: int) -> np.uint64:
    """The state of stream ``number`` under ``key``."""
    return mixed(mixed(np.uint64(key)) + np.uint64(number) * _GOLDEN)


@njit
def uniform(state: np.uint64, slot: int) -> float:
    """The draw of a stream's slot: a multiple of 2^-53 in [0, 1)."""
    word = mixed(np.uint64(state) + (np.uint64(slot) + np.uint64(1)) * _GOLDEN)
    return float(word >> np.uint64(11)) * _UNIT


@njit
def below(state: np.uint64, slot: int, bound: int) -> int:
    """An integer in [0, bound); its law differs from the uniform one by at most bound / 2^53, relatively."""
    return int(uniform(state, slot) * bound)
