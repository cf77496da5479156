from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from tasks.curator.calibration.loops import without_loops


def test_only_the_diagonal_goes() -> None:
    dense = (np.random.default_rng(0).random((9, 9)) < 0.5).astype(np.int8)
    graph = csr_array(dense)
    plain = without_loops(graph)
    expected = dense * (1 - np.eye(9))
    np.testing.assert_array_equal(plain.toarray(), expected)
    assert plain.nnz == expected.sum() and plain.has_canonical_format and plain.dtype == np.float64
    np.testing.assert_array_equal(graph.toarray(), dense)
