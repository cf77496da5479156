"""A random graph with the size and degree law of Flickr's, for speed and memory only: it has no communities.

Flickr (Tang and Liu, KDD 2009): 80,513 vertices, 5,899,882 edges, largest degree 5,706. Expected degrees follow a power
law from 1 to that degree, with the exponent that gives the right mean; edges are drawn in proportion to the product
of their ends' expected degrees (Chung and Lu, PNAS 2002) until there are enough different ones.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import csr_array

from tasks.datasets.graph import undirected

VERTICES, EDGES, LARGEST_DEGREE = 80_513, 5_899_882, 5_706


def flickr_sized(
    rng: np.random.Generator, *, vertices: int = VERTICES, edges: int = EDGES, largest_degree: int = LARGEST_DEGREE
) -> csr_array:
    """The adjacency, (V, V) int8, symmetric, with exactly ``edges`` edges and no self-loop.

    Args:
        rng: source of degrees and edges.
        vertices, edges, largest_degree: of the law; Flickr's unless smaller ones are asked for in a test.
    """
    sizes = np.arange(1, largest_degree + 1, dtype=np.float64)
    law = power_law(sizes, 2 * edges / vertices)
    ends = np.cumsum(rng.choice(sizes, size=vertices, p=law))

    def drawn(size: int) -> np.ndarray:
        return np.searchsorted(ends, rng.random(size) * ends[-1], side="right")

    # Every vertex first gets one neighbour: Flickr has no isolated ones.
    keys = first = pair_keys(np.arange(vertices), drawn(vertices), vertices)
    while len(keys) < edges:
        more = edges - len(keys) + edges // 8
        keys = different(np.concatenate([keys, pair_keys(drawn(more), drawn(more), vertices)]))
    places = np.minimum(np.searchsorted(first, keys), len(first) - 1)
    others = rng.permutation(keys[first[places] != keys])
    kept = np.concatenate([first, others[: edges - len(first)]])
    adjacency, _, _ = undirected(vertices, kept // vertices, kept % vertices)
    return adjacency


def pair_keys(heads: np.ndarray, tails: np.ndarray, vertices: int) -> np.ndarray:
    """Sorted numbers of the different unordered pairs; a vertex with itself is no pair and takes the next one."""
    tails = np.where(heads == tails, (tails + 1) % vertices, tails).astype(np.int64)
    return different(np.minimum(heads, tails) * vertices + np.maximum(heads, tails))


def different(keys: np.ndarray) -> np.ndarray:
    """Sorted, each once; ``np.unique`` is many times slower on millions of integers."""
    keys = np.sort(keys)
    return keys[np.diff(keys, prepend=-1) > 0]


def power_law(sizes: np.ndarray, mean: float) -> np.ndarray:
    """Probabilities proportional to a power of ``sizes`` whose mean is ``mean``."""

    def law(exponent: float) -> np.ndarray:
        weights = sizes**-exponent
        return weights / weights.sum()

    exponent = brentq(lambda trial: law(trial) @ sizes - mean, -5, 5)
    return law(exponent)
