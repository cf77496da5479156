from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tasks.datasets.graph import RawGraph, RawGraphSet, undirected
from tasks.errors import UserError

NODES = 6
PAIRS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=40)


def path_graph(**changes: object) -> RawGraph:
    adjacency, _, _ = undirected(3, np.array([0, 1]), np.array([1, 2]))
    features = csr_array(np.array([[0, 1], [0.5, 0], [1, 1]], dtype=np.float32))
    graph = RawGraph("path", adjacency, features, np.array([0, 1, -1]))
    return replace(graph, **changes)


@given(PAIRS)
def test_undirected_agrees_with_networkx(pairs: list[tuple[int, int]]) -> None:
    heads, tails = (np.array([pair[end] for pair in pairs], dtype=np.int64) for end in (0, 1))
    adjacency, loops, repeated = undirected(NODES, heads, tails)
    reference = nx.Graph()
    reference.add_nodes_from(range(NODES))
    reference.add_edges_from(pair for pair in pairs if pair[0] != pair[1])
    np.testing.assert_array_equal(adjacency.toarray(), nx.to_numpy_array(reference, dtype=np.int8))
    assert loops == sum(head == tail for head, tail in pairs)
    assert loops + repeated + reference.number_of_edges() == len(pairs)
    RawGraph("drawn", adjacency)


def test_sizes() -> None:
    graph = path_graph()
    assert (graph.nodes, graph.edges, graph.dimensions, graph.classes) == (3, 2, 2, 2)
    assert graph.private


def test_repr_shows_no_data() -> None:
    assert "array" not in repr(path_graph())
    assert "array" not in repr(RawGraphSet("set", (path_graph(),), np.array([0])))


@pytest.mark.parametrize(
    "changes",
    [
        {"adjacency": csr_array(np.eye(3, dtype=np.int8))},
        {"adjacency": csr_array(np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=np.int8))},
        {"adjacency": csr_array(2 * np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.int8))},
        {"adjacency": csr_array((3, 4), dtype=np.int8)},
        {"adjacency": csr_array((3, 3), dtype=np.float64)},
        {"features": csr_array((2, 2), dtype=np.float32)},
        {"features": csr_array((3, 2), dtype=np.float64)},
        {"labels": np.array([0, 1, -2])},
        {"labels": np.array([0, 1])},
        {"labels": np.array([0.0, 1.0, 2.0])},
        {"label_sets": csr_array(np.array([[2], [0], [0]], dtype=np.uint8))},
    ],
)
def test_broken_arrays_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes)).replace("_", " ")):
        path_graph(**changes)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.5, -0.5])
def test_features_outside_the_declared_bounds_are_refused(value: float) -> None:
    with pytest.raises(UserError, match="path"):
        path_graph(features=csr_array(np.array([[0, 1], [value, 0], [1, 1]], dtype=np.float32)))


def test_implicit_zeros_count_as_values() -> None:
    with pytest.raises(UserError, match=r"\[0\.25, 1\].*feature_bounds"):
        path_graph(feature_bounds=(0.25, 1.0))


@pytest.mark.parametrize("bounds", [(0.0, 0.0), (1.0, 0.0), (0.0, np.inf), (np.nan, 1.0)])
def test_bounds_must_be_an_interval(bounds: tuple[float, float]) -> None:
    with pytest.raises(UserError, match="feature_bounds"):
        path_graph(feature_bounds=bounds)


def test_bounds_hold_in_single_precision() -> None:
    """0.1 rounds up in float32; it is still the declared upper bound, not beyond it."""
    graph = path_graph(features=csr_array(np.full((3, 2), 0.1, dtype=np.float32)), feature_bounds=(0.0, 0.1))
    assert graph.dimensions == 2


def test_graph_set() -> None:
    graphs = (path_graph(), path_graph())
    assert RawGraphSet("pair", graphs, np.array([0, 1])).classes == 2
    with pytest.raises(ValueError, match="labels"):
        RawGraphSet("pair", graphs, np.array([0]))
    with pytest.raises(ValueError, match="feature width"):
        RawGraphSet("pair", (path_graph(), path_graph(features=None)), np.array([0, 1]))
