from __future__ import annotations

import numpy as np
import pytest

from tasks.broadcasts.bins import default_bin_count, random_bins
from tasks.errors import UserError
from tasks.seeds import generator


def test_bins_are_of_near_equal_size_and_follow_the_seed():
    bins = random_bins(103, 5, generator(1))
    sizes = np.bincount(bins)
    assert len(sizes) == 5
    assert sizes.max() - sizes.min() <= 1
    assert np.array_equal(bins, random_bins(103, 5, generator(1)))
    assert not np.array_equal(bins, random_bins(103, 5, generator(2)))


def test_the_default_is_the_papers():
    assert default_bin_count(10_312) == 9
    assert default_bin_count(2) == 1


@pytest.mark.parametrize("bins", [0, 4])
def test_impossible_splits_are_refused(bins: int):
    with pytest.raises(UserError, match="bins"):
        random_bins(3, bins, generator(1))
