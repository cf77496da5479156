from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from tasks.client.fedwalk.neighbour_lists import neighbour_lists
from tasks.errors import UserError


def matrix(nodes: int, pairs: list[tuple[int, int]]) -> csr_array:
    heads, tails = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return coo_array((np.ones(len(pairs), dtype=np.int8), (heads, tails)), shape=(nodes, nodes)).tocsr()


def test_duplicates_count_once_self_loops_are_dropped_and_isolated_vertices_have_empty_lists():
    repeated = csr_array(
        (np.ones(5, dtype=np.int8), np.array([2, 2, 0, 0, 0]), np.array([0, 3, 3, 5, 5])), shape=(4, 4)
    )
    assert not repeated.has_canonical_format
    lists = neighbour_lists(repeated, dataset="x")
    assert lists.of(0).tolist() == [2]
    assert lists.of(2).tolist() == [0]
    assert lists.degrees.tolist() == [1, 0, 1, 0]
    assert lists.indptr.dtype == np.int64
    assert lists.indices.dtype == np.int32


@pytest.mark.parametrize(
    ("adjacency", "named"),
    [
        (matrix(3, [(0, 1)]), "one list"),
        (matrix(3, [(1, 1)]), "no edge"),
        (matrix(3, []), "no edge"),
        (matrix(1, []), r"\(1, 1\)"),
        (csr_array((2, 3), dtype=np.int8), r"\(2, 3\)"),
    ],
)
def test_other_graphs_are_refused_in_one_line(adjacency: csr_array, named: str):
    with pytest.raises(UserError, match=named) as refused:
        neighbour_lists(adjacency, dataset="x")
    assert "\n" not in str(refused.value)
