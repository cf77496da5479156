"""Sparse vertices against dense matrices."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.curator.gromov.vertices import CELL, inner, sandwich, subtract


def random_cells(rng: np.random.Generator, n: int, m: int) -> tuple[np.ndarray, int, np.ndarray]:
    dense = np.where(rng.random((n, m)) < 0.3, rng.integers(1, 4, (n, m)), 0).astype(float)
    row, column = np.nonzero(dense)
    cells = np.zeros(len(row), CELL)
    cells["row"], cells["column"], cells["mass"] = row, column, dense[row, column]
    return cells, len(row), dense


@settings(max_examples=25)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32))
def test_difference_and_products_match_dense_ones(n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    new, new_count, dense_new = random_cells(rng, n, m)
    old, old_count, dense_old = random_cells(rng, n, m)
    change = np.zeros(new_count + old_count, CELL)
    count = subtract(new, new_count, old, old_count, np.full((n, m), np.nan), change)
    dense = np.zeros((n, m))
    np.add.at(dense, (change["row"][:count], change["column"][:count]), change["mass"][:count])
    np.testing.assert_array_equal(dense, dense_new - dense_old)
    left, right = (x + x.T for x in (rng.normal(size=(n, n)), rng.normal(size=(m, m))))
    out = np.empty((n, m))
    sandwich(left, right, change, count, 0.5, np.empty(n + m, np.int64), np.empty(min(n, m) * (n + m)), out)
    np.testing.assert_allclose(out, 0.5 * left @ dense @ right, atol=1e-12)
    np.testing.assert_allclose(inner(out, change, count, 0.5), 0.5 * np.sum(out * dense), atol=1e-12)
