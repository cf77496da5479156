"""Seeds derived by hashing what they are for, never by order of execution."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def derive_seed(root: int | None, *, study: str, dataset: str, point: str, repeat: int, role: str) -> int | None:
    """A 63-bit seed for one role of one point, or None (OS entropy) when ``root`` is None.

    The role names the party (``client/edges``, ``curator/initialisation``), so that the curator's
    randomness is never a function of a seed that the client used.
    """
    if root is None:
        return None
    message = json.dumps([int(root), study, dataset, point, int(repeat), role]).encode()
    return int.from_bytes(hashlib.sha256(message).digest()[:8], "big") >> 1


def generator(seed: int | None) -> np.random.Generator:
    """A PCG64 generator: reproducible for an integer, from the operating system's entropy for None."""
    return np.random.Generator(np.random.PCG64(seed))
