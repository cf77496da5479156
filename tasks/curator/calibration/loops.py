"""Self-loops: users may report them, but no relation is one."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array


def without_loops(graph: csr_array) -> csr_array:
    """A float64 copy of the graph (N, N) without its diagonal and without stored zeros, sorted."""
    plain = csr_array(graph, dtype=np.float64)
    plain = csr_array(plain - diags_array(plain.diagonal()))
    plain.eliminate_zeros()
    plain.sort_indices()
    return plain
