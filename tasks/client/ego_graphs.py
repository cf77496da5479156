"""Ego graphs: what the users around one centre know, cut out of a large raw graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.datasets.graph import RawGraph, RawGraphSet
from tasks.errors import UserError

OVERLAP = (
    "ego graphs overlap: a node's data are in the report of every ego graph around it, and their budgets add up; the "
    "size of a graph is in clear, and of one hop it is the centre's degree"
)


def draw_centres(graph: RawGraph, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Distinct centres, uniform among the nodes with a known class and at least one neighbour, ascending.

    Raises:
        UserError: when the graph has no labels or too few such nodes.
    """
    if graph.labels is None:
        raise UserError(f"{graph.name} has no class for each node; ego graphs take their class from the centre")
    fit = np.flatnonzero((graph.labels >= 0) & (np.diff(graph.adjacency.indptr) > 0))
    if not 1 <= count <= len(fit):
        remedy = f"use 1 to {len(fit)}" if len(fit) else "give labels of nodes that have neighbours"
        if graph.private:
            remedy = "use fewer, each of a node with a label and a neighbour; how many there are is private"
        raise UserError(f"{graph.name}: ego_clustering.graphs={count} centres are out of range; {remedy}")
    return np.sort(rng.choice(fit, size=count, replace=False)).astype(np.int64)


def ego_graphs(graph: RawGraph, centres: NDArray[np.int64], hops: int) -> RawGraphSet:
    """The subgraph of all nodes within ``hops`` steps of each centre; its class is the centre's.

    Nodes keep their features and labels and are in ascending order of their number. Graphs may share nodes: a promise
    for one ego graph is none for a node, as the set's notes say.

    Raises:
        UserError: when the graph has no labels or the number of hops is not positive.
    """
    if graph.labels is None:
        raise UserError(f"{graph.name} has no class for each node; ego graphs take their class from the centre")
    if hops < 1:
        raise UserError(f"hops: {hops} is out of range; use 1 or more")
    egos = []
    for centre in centres.tolist():
        nodes = _within(graph.adjacency, centre, hops)
        egos.append(
            RawGraph(
                name=f"{graph.name}/{centre}",
                adjacency=csr_array(graph.adjacency[nodes][:, nodes]),
                features=None if graph.features is None else csr_array(graph.features[nodes]),
                labels=graph.labels[nodes],
                feature_bounds=graph.feature_bounds,
                private=graph.private,
            )
        )
    name = f"{graph.name}-{hops}-hop"
    notes = (*graph.notes, OVERLAP)
    return RawGraphSet(name, tuple(egos), graph.labels[centres], notes=notes, private=graph.private)


def graphs_of_nodes(graph: RawGraph, centres: NDArray[np.int64], hops: int) -> NDArray[np.int64]:
    """In how many of the ego graphs each node is, int64 (N,)."""
    held = [_within(graph.adjacency, centre, hops) for centre in centres.tolist()]
    return np.bincount(np.concatenate(held), minlength=graph.nodes)


def _within(adjacency: csr_array, centre: int, hops: int) -> NDArray[np.int64]:
    reached = np.zeros(adjacency.shape[0], dtype=bool)
    reached[centre] = True
    for _ in range(hops):
        reached[adjacency[np.flatnonzero(reached)].indices] = True
    return np.flatnonzero(reached)
