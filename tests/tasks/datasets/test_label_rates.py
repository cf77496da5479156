from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.datasets.label_rates import FULL, with_label_rate
from tasks.datasets.splits import Split, random_split
from tasks.errors import UserError


def split(nodes: int = 200) -> Split:
    return random_split(np.zeros(nodes, dtype=np.int64), np.random.default_rng(1))


@given(st.floats(0.01, 0.5), st.floats(0.01, 0.5), st.integers(0, 99))
def test_smaller_sets_are_part_of_larger_ones_and_the_other_roles_stay(one: float, other: float, seed: int) -> None:
    whole = split()
    small, large = (with_label_rate(whole, rate, np.random.default_rng(seed)) for rate in sorted((one, other)))
    assert set(small.train) <= set(large.train) <= set(whole.train)
    assert len(large.train) == round(max(one, other) * 200)
    for role in ("validation", "test"):
        assert getattr(small, role).tolist() == getattr(whole, role).tolist()


def test_the_full_rate_is_the_split_itself() -> None:
    whole = split()
    assert with_label_rate(whole, FULL, np.random.default_rng(0)) is whole


def test_a_rate_without_a_node_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match=r"0\.001 .* 200 "):
        with_label_rate(split(), 0.001, np.random.default_rng(0))
