"""The public bins that structural counts are taken over."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError


def default_bin_count(nodes: int) -> int:
    """The paper's k = floor(ln V), at least 1."""
    return max(1, math.floor(math.log(nodes)))


def random_bins(nodes: int, bins: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """A random split of the vertex ids into bins of near-equal size, drawn by the curator and public.

    Returns:
        int32 (V,): the bin of every vertex.

    Raises:
        UserError: for no bin, or more bins than vertices.
    """
    if not 1 <= bins <= nodes:
        raise UserError(f"bins: {bins} is out of range; use 1 to {nodes}, the number of vertices")
    return rng.permutation(np.arange(nodes, dtype=np.int32) % np.int32(bins))
