"""Features that nobody reports: the controls of what the feature reports are worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.curator.rectify import AffineSparse
from tasks.seeds import generator


def random_features(nodes: int, dimensions: int, seed: int) -> NDArray[np.float32]:
    """Independent standard Gaussians, dense float32 (nodes, dimensions), 4 bytes an entry.

    They tell nodes apart and nothing else. The seed is public: they depend on no user.
    """
    return generator(seed).standard_normal((nodes, dimensions), dtype=np.float32)


def constant_features(nodes: int, dimensions: int) -> AffineSparse:
    """One everywhere, (nodes, dimensions): only what the degrees give away is left, the floor."""
    return AffineSparse(1.0, csr_array((nodes, dimensions), dtype=np.float64))
