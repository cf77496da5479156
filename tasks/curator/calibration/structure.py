"""Structure denoising on its own (Solitude, eq. 10), which no graph comes out of."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from tasks.errors import UserError


def soft_thresholded(reported: csr_array, penalty: float) -> csr_array:
    """The minimiser over A of ||A~ - A||_F^2 + penalty ||A||_1, float64 (N, N).

    The objective is a sum over entries, so each is solved alone: (1 - w)^2 + penalty w at a reported edge is least at
    w = max(0, 1 - penalty/2), and everywhere else at 0. Every reported edge gets the *same* weight: the result is the
    reported graph, scaled or emptied, and cannot tell noise from truth.

    Args:
        reported: (N, N) of bits.
        penalty: the source's lambda, at least 0.

    Raises:
        UserError: for a negative penalty.
    """
    if not 0 <= penalty < float("inf"):
        raise UserError(f"lambda {penalty}: use 0 or a positive number")
    scaled = csr_array(reported, dtype=np.float64) * max(0.0, 1.0 - penalty / 2)
    scaled.eliminate_zeros()
    return scaled
