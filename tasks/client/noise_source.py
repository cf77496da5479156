"""Where the users' noise comes from: a cipher under a key that nobody keeps, or a seed for research.

A proof of privacy holds for uniform words that the curator cannot predict. PCG64 is not enough for that: its state
follows from a few outputs (Bouillaguet, Martinez and Sauvage, "Practical seed-recovery for the PCG pseudo-random number
generator", ToSC 2020). ``seed: null`` therefore draws from ChaCha with 20 rounds (Bernstein 2008) under 256 bits of the
operating system's entropy, fresh for every report and never stored; the words are the cipher's key stream.

The samplers are the same for both sources and take their words in the same order, so what is tested of the law with
seeds holds without. About 30 ns a word against 3: one report of Cora's lists needs some ten thousand.

What this does not cover: the generator's state stays in the process' memory until it is collected, and draws take a
time that may depend on the values (``tasks.client.biased_coin``).
"""

from __future__ import annotations

import secrets

import numpy as np
from randomgen import ChaCha  # type: ignore[import-untyped]

from tasks.seeds import generator

KEY_BITS = 256
ROUNDS = 20


def noise_generator(seed: int | None) -> np.random.Generator:
    """Source of one report's noise: reproducible PCG64 for a seed, a freshly keyed cipher for None."""
    if seed is not None:
        return generator(seed)
    return np.random.Generator(ChaCha(key=secrets.randbits(KEY_BITS), rounds=ROUNDS))
