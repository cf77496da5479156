from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from tasks.datasets.splits import ROLES, Split, random_split
from tasks.errors import UserError
from tasks.seeds import generator

LABELS = arrays(np.int64, st.integers(0, 200), elements=st.integers(-1, 3))


@given(LABELS, st.integers(0, 2**32))
def test_every_labelled_node_is_in_exactly_one_part(labels: np.ndarray, seed: int) -> None:
    split = random_split(labels, generator(seed))
    dealt = np.concatenate([split.train, split.validation, split.test])
    np.testing.assert_array_equal(np.sort(dealt), np.flatnonzero(labels >= 0))


@given(LABELS, st.sampled_from([(0.5, 0.25, 0.25), (0.7, 0.2, 0.1), (1.0, 0.0, 0.0)]))
def test_sizes_are_the_fractions_to_the_nearest_node(labels: np.ndarray, fractions: tuple[float, float, float]) -> None:
    split = random_split(labels, generator(0), fractions)
    count = (labels >= 0).sum()
    for role, fraction in zip(ROLES, fractions, strict=True):
        assert abs(len(getattr(split, role)) - fraction * count) <= 1


def test_the_seed_decides() -> None:
    labels = np.zeros(100, dtype=np.int64)
    one, same, other = (random_split(labels, generator(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.train, same.train)
    assert not np.array_equal(one.train, other.train)


def test_every_node_is_equally_likely_to_train() -> None:
    labels, draws = np.zeros(40, dtype=np.int64), 2000
    rng = generator(0)
    counts = np.zeros(40)
    for _ in range(draws):
        counts[random_split(labels, rng).train] += 1
    # Each count is Binomial(2000, 1/2): sd 22.4; five sd over 40 nodes.
    assert np.abs(counts - draws / 2).max() < 5 * np.sqrt(draws / 4)


def test_label_sets_leave_out_nodes_with_an_empty_set() -> None:
    sets = csr_array(np.array([[1, 0], [0, 0], [1, 1], [0, 1]], dtype=np.uint8))
    split = random_split(sets, generator(0))
    assert sorted(np.concatenate([split.train, split.validation, split.test])) == [0, 2, 3]


@pytest.mark.parametrize("fractions", [(0.5, 0.5, 0.5), (1.5, -0.25, -0.25), (0.5, 0.25, 0.0)])
def test_fractions_must_sum_to_one(fractions: tuple[float, float, float]) -> None:
    with pytest.raises(UserError, match=re.escape(str(fractions))):
        random_split(np.zeros(4, dtype=np.int64), generator(0), fractions)


def test_saved_bytes_are_the_same_and_load_back(tmp_path: Path) -> None:
    split = random_split(np.zeros(50, dtype=np.int64), generator(3))
    split.save(tmp_path / "one.npz")
    split.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    loaded = Split.load(tmp_path / "one.npz")
    for role in ROLES:
        np.testing.assert_array_equal(getattr(loaded, role), getattr(split, role))


@pytest.mark.parametrize("content", [None, b"", b"not an archive"])
def test_a_damaged_file_is_one_clear_line(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "split.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=r"split\.npz"):
        Split.load(path)


@pytest.mark.parametrize(
    "parts",
    [([0, 1], [1], [2]), ([0, 0], [1], [2]), ([1, 0], [2], [3]), ([-1], [0], [1])],
)
def test_overlap_and_disorder_are_refused(parts: tuple[list[int], ...]) -> None:
    with pytest.raises(ValueError, match="split"):
        Split(*(np.array(part, dtype=np.int64) for part in parts))


def test_dtype_is_checked() -> None:
    with pytest.raises(ValueError, match="int64"):
        Split(np.array([0], dtype=np.int32), np.array([1]), np.array([2]))
