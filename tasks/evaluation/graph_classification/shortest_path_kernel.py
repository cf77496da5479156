"""The shortest-path kernel on raw graphs (Borgwardt & Kriegel 2005) from GraKeL: a baseline without privacy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from grakel import Graph
from grakel.kernels import ShortestPath
from numpy.typing import NDArray
from scipy.sparse import triu

from tasks.datasets.graph import RawGraph


def shortest_path_kernel(graphs: Sequence[RawGraph], train: NDArray[np.int64]) -> NDArray[np.float64]:
    """Normalised similarities of every graph to the training graphs, (G, T).

    Lengths of shortest paths are compared together with the labels of their ends, one-hot features being the label;
    without features the lengths alone. A graph without edges has no path and is similar to nothing but itself.

    Args:
        graphs: the G raw graphs.
        train: int64 (T,), the graphs that the kernel is fitted on.
    """
    labelled = all(graph.features is not None for graph in graphs)
    known = [_as_grakel(graph, labelled) for graph in graphs]
    paths = ShortestPath(normalize=True, with_labels=labelled)
    with np.errstate(divide="ignore", invalid="ignore"):
        paths.fit([known[graph] for graph in train])
        columns = np.nan_to_num(paths.transform(known))
    columns[train, np.arange(len(train))] = 1.0
    return columns


def _as_grakel(graph: RawGraph, labelled: bool) -> Graph:
    """GraKeL drops nodes that no edge names from edge lists, so the labels name all of them."""
    upper = triu(graph.adjacency, k=1, format="coo")
    edges: dict[int, dict[int, float]] = {node: {} for node in range(graph.nodes)}
    for head, tail in zip(upper.row.tolist(), upper.col.tolist(), strict=True):
        edges[head][tail] = edges[tail][head] = 1.0
    kinds = np.zeros(graph.nodes, dtype=int)
    if labelled and graph.features is not None:
        kinds = graph.features.toarray().argmax(axis=1)
    return Graph(edges, node_labels=dict(enumerate(kinds.tolist())), graph_format="dictionary")
