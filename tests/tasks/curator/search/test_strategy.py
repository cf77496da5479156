from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.curator.search.axes import axes_named
from tasks.curator.search.strategy import Strategy, random_subset
from tasks.errors import UserError

GRID = axes_named("paper").configurations(l_x=False, l_y=False, joint=False)


@given(st.integers(1, 500), st.integers(1, 500), st.integers(2, 5), st.integers(1, 5))
def test_halving_ends_with_all_epochs_and_shrinks(points, epochs, factor, rungs):
    rounds = Strategy("halving", factor=factor, rungs=rungs).schedule(points, epochs)
    counts, lengths = zip(*rounds, strict=True)
    assert len(rounds) == rungs and counts[0] == points and lengths[-1] == epochs
    assert list(counts) == sorted(counts, reverse=True) and counts[-1] >= 1
    assert list(lengths) == sorted(lengths) and lengths[0] >= 1


@given(st.integers(0, 100), st.integers(1, 64))
def test_a_subset_is_of_the_grid_in_its_order_and_grows_by_adding(seed, count):
    subset = random_subset(GRID, count, seed)
    assert len(set(subset)) == count and [point for point in GRID if point in subset] == list(subset)
    assert set(random_subset(GRID, max(1, count // 2), seed)) <= set(subset)
    assert subset == random_subset(GRID, count, seed)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kind": "bayes"}, "'bayes'"),
        ({"kind": "full", "points": 3}, "full"),
        ({"kind": "random"}, "random"),
        ({"kind": "random", "points": 0}, "points 0"),
        ({"minutes": 0.0}, "minutes 0"),
        ({"kind": "halving", "factor": 1}, "factor 1"),
    ],
)
def test_mistakes_are_named(options, named):
    with pytest.raises(UserError, match=named):
        Strategy(**options)
