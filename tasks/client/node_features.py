"""Raw graphs as a network reads them: their own features, or one-hot degrees where a set has none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from tasks.datasets.graph import RawGraph
from tasks.models.graph_stack import GraphStack, stack_graphs

DEGREE_CAP = 135
"""Largest degree with a column of its own: IMDB-BINARY's published maximum, declared and never read from graphs."""


def stacked(graphs: Sequence[RawGraph]) -> GraphStack:
    """The graphs with their features, or with one-hot degrees 0..``DEGREE_CAP`` (larger ones share the last column).

    Raises:
        UserError: for no graphs, or one without nodes.
    """
    features = [one_hot_degrees(graph) if graph.features is None else graph.features for graph in graphs]
    return stack_graphs([graph.adjacency for graph in graphs], features)


def one_hot_degrees(graph: RawGraph) -> csr_array:
    """(N, ``DEGREE_CAP`` + 1) float32."""
    columns = np.minimum(np.diff(graph.adjacency.indptr), DEGREE_CAP)
    indptr = np.arange(graph.nodes + 1)
    return csr_array((np.ones(graph.nodes, dtype=np.float32), columns, indptr), shape=(graph.nodes, DEGREE_CAP + 1))
