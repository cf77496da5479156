from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from tasks.datasets import nettack


def test_the_largest_component_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Nodes 0-1 are one component, 2-4-5 the largest (one edge listed one way only), 3 is alone with a self-loop."""
    adjacency = np.zeros((6, 6))
    for head, tail in [(0, 1), (1, 0), (2, 4), (5, 4), (4, 5), (3, 3)]:
        adjacency[head, tail] = 1
    attributes = np.arange(12).reshape(6, 2) % 3 == 0
    stored = {}
    for prefix, dense in (("adj", adjacency), ("attr", attributes.astype(int))):
        matrix = csr_array(dense)
        for part in ("data", "indices", "indptr", "shape"):
            stored[f"{prefix}_{part}"] = np.asarray(getattr(matrix, part))
    np.savez(tmp_path / "citeseer.npz", labels=np.arange(6, dtype=np.int8), **stored)
    graph = nettack.parse(tmp_path)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(graph.labels, [2, 4, 5])
    np.testing.assert_array_equal(graph.features.toarray(), attributes[[2, 4, 5]])
