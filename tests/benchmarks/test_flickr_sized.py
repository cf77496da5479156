from __future__ import annotations

import numpy as np
import pytest

from benchmarks.flickr_sized import flickr_sized, power_law
from tasks.datasets.graph import check_adjacency
from tasks.seeds import generator

SMALL = {"vertices": 2000, "edges": 30_000, "largest_degree": 300}


def test_size_is_exact_and_degrees_have_the_laws_spread():
    adjacency = flickr_sized(generator(1), **SMALL)
    check_adjacency("small", adjacency)
    degrees = np.diff(adjacency.indptr)
    assert adjacency.shape == (2000, 2000)
    assert adjacency.nnz == 60_000
    assert degrees.max() > 150
    assert degrees.min() >= 1
    assert np.median(degrees) < degrees.mean() / 1.5


def test_the_seed_decides():
    first, again = (flickr_sized(generator(1), **SMALL) for _ in range(2))
    assert (first != again).nnz == 0
    assert (first != flickr_sized(generator(2), **SMALL)).nnz > 0


def test_the_exponent_gives_the_mean():
    sizes = np.arange(1.0, 5707)
    law = power_law(sizes, 146.56)
    assert law.sum() == pytest.approx(1)
    assert law @ sizes == pytest.approx(146.56)
    assert (np.diff(law) < 0).all()
