import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.client.node_features import DEGREE_CAP, stacked
from tasks.datasets.graph import RawGraph, undirected
from tasks.errors import UserError


def star(leaves: int) -> RawGraph:
    return RawGraph("star", undirected(leaves + 1, np.zeros(leaves, dtype=int), np.arange(1, leaves + 1))[0])


def test_degrees_are_one_hot_and_capped_at_the_declared_maximum() -> None:
    stack = stacked([star(2), star(DEGREE_CAP + 50)])
    columns = stack.features.toarray().argmax(axis=1)
    assert stack.features.shape == (3 + DEGREE_CAP + 51, DEGREE_CAP + 1)
    assert (stack.features.sum(axis=1) == 1).all()
    assert columns[:3].tolist() == [2, 1, 1]
    assert columns[3] == DEGREE_CAP


def test_own_features_are_kept() -> None:
    rows = csr_array(np.array([[1, 0.5], [0, 1], [0, 0]], dtype=np.float32))
    graph = RawGraph("own", star(2).adjacency, rows)
    assert (stacked([graph]).features.toarray() == rows.toarray()).all()


def test_odd_graphs_are_refused_in_one_line() -> None:
    with pytest.raises(UserError, match=r"odd.*NaN"):
        RawGraph("odd", star(1).adjacency, csr_array(np.array([[math.nan], [1]], dtype=np.float32)))
    empty = RawGraph("odd", csr_array((0, 0), dtype=np.int8))
    with pytest.raises(UserError, match="graph 1 "):
        stacked([star(1), empty])
    lonely = RawGraph("odd", csr_array((1, 1), dtype=np.int8))
    assert stacked([lonely]).features.toarray()[0, 0] == 1
