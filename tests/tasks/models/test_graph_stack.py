import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import block_diag

from tasks.errors import UserError
from tasks.models.graph_stack import stack_graphs


def graphs(rng, count):
    adjacencies, features = [], []
    for n in rng.integers(1, 8, size=count):
        bits = np.triu(rng.random((n, n)) < 0.5, 1)
        adjacencies.append(sparse.csr_array((bits | bits.T).astype(np.int8)))
        features.append(sparse.csr_array(rng.random((n, 3)).astype(np.float32)))
    return adjacencies, features


@settings(max_examples=40)
@given(seed=st.integers(0, 2**31), count=st.integers(1, 7))
def test_any_choice_is_block_diagonal_in_its_order(seed, count):
    rng = np.random.default_rng(seed)
    adjacencies, features = graphs(rng, count)
    stack = stack_graphs(adjacencies, features)
    chosen = rng.permutation(count)[: rng.integers(1, count + 1)]
    for part, numbers in ((stack, np.arange(count)), (stack.subset(chosen), chosen)):
        expected = block_diag(*[adjacencies[g].toarray() for g in numbers])
        assert (part.adjacency().toarray() == expected).all()
        assert (part.features.toarray() == np.concatenate([features[g].toarray() for g in numbers])).all()
        assert part.node_counts.tolist() == [adjacencies[g].shape[0] for g in numbers]


def test_no_choice_and_graphs_without_edges():
    stack = stack_graphs([sparse.csr_array((2, 2), dtype=np.int8)], [sparse.csr_array(np.eye(2, dtype=np.float32))])
    assert stack.adjacency().nnz == 0
    assert stack.subset(np.empty(0, dtype=np.int64)).nodes == 0


def test_empty_graphs_and_missing_rows_are_named():
    one, row = sparse.csr_array((1, 1), dtype=np.int8), sparse.csr_array(np.ones((1, 2), dtype=np.float32))
    none, nothing = sparse.csr_array((0, 0), dtype=np.int8), sparse.csr_array((0, 2), dtype=np.float32)
    with pytest.raises(UserError, match="graph 1 "):
        stack_graphs([one, none], [row, nothing])
    with pytest.raises(UserError, match="graph 0 "):
        stack_graphs([one], [nothing])
    with pytest.raises(UserError):
        stack_graphs([], [])
