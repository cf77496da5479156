import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tasks.client.shortest_paths import shortest_path_distances
from tasks.errors import UserError


@settings(max_examples=40)
@given(seed=st.integers(0, 2**31), n=st.integers(1, 15))
def test_distances_are_floyd_and_warshalls(seed: int, n: int) -> None:
    bits = np.triu(np.random.default_rng(seed).random((n, n)) < 0.2, 1)
    bits = bits | bits.T
    expected = np.where(bits, 1.0, np.inf)
    np.fill_diagonal(expected, 0.0)
    for k in range(n):
        expected = np.minimum(expected, expected[:, [k]] + expected[[k]])
    expected[np.isinf(expected)] = n
    ours = shortest_path_distances(csr_array(bits, dtype=np.int8))
    assert ours.dtype == np.float64
    assert (ours == expected).all()


def test_odd_graphs() -> None:
    assert shortest_path_distances(csr_array((1, 1), dtype=np.int8)).tolist() == [[0.0]]
    assert shortest_path_distances(csr_array((3, 3), dtype=np.int8)).tolist() == [[0, 3, 3], [3, 0, 3], [3, 3, 0]]
    with pytest.raises(UserError):
        shortest_path_distances(csr_array((0, 0), dtype=np.int8))
