"""A user's own graph, declared in params.yaml and private unless it says otherwise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.datasets.graph import RawGraph, undirected
from tasks.datasets.user.declaration import MAX_NODES, UserDataset, check_declaration
from tasks.datasets.user.user_files import read_edges, read_features, read_labels
from tasks.errors import UserError

FEW_NODES = 1_000_000
MOST_ISOLATED = 100  # nodes for every edge, where nobody declared their number


def load_user_graph(declared: UserDataset) -> RawGraph:
    """Reads and checks the files; repeated edges and self-loops are dropped.

    How many were dropped is in the notes of a public graph alone: the number is a function of private data.

    Raises:
        UserError: one line that names the file, the line and the rule, and quotes no value.
    """
    check_declaration(declared)
    pairs = read_edges(Path(declared.edges))
    table = None if declared.features is None else read_features(Path(declared.features))
    nodes = node_count(declared, pairs, table)
    if (pairs < 0).any():
        raise UserError(f"{declared.edges}: node ids are not negative; number the nodes from 0")
    if (pairs >= nodes).any():
        raise UserError(f"{declared.edges}: a node id is not below the number of nodes; number them 0 to N-1")
    adjacency, loops, repeated = undirected(nodes, pairs[:, 0], pairs[:, 1])
    dropped = "self-loops and repeated edges, if any, were dropped"
    if not declared.private:
        dropped = f"{loops} self-loops and {repeated} repeated edges were dropped"
    bounds = declared.feature_bounds or (0.0, 1.0)
    return RawGraph(
        declared.name,
        adjacency,
        None if table is None else single_precision(declared, table, nodes, bounds),
        None if declared.labels is None else class_numbers(Path(declared.labels), nodes),
        feature_bounds=bounds,
        notes=(f"{declared.name}: {dropped}",),
        private=declared.private,
    )


def node_count(declared: UserDataset, pairs: NDArray[np.int64], table: csr_array | None) -> int:
    """N as declared, or as the features have rows, or the largest id plus one."""
    if declared.nodes is not None:
        return declared.nodes
    count = int(pairs.max(initial=-1)) + 1 if table is None else int(table.shape[0])
    if not 0 < count <= MAX_NODES:
        raise UserError(f"{declared.name}: number the nodes from 0 without gaps, at most {MAX_NODES} of them")
    if table is None and count > max(FEW_NODES, MOST_ISOLATED * len(pairs)):
        raise UserError(
            f"{declared.edges}: the largest node id is far above the number of edges; number the nodes from 0 without"
            " gaps, or declare nodes in params.yaml"
        )
    return count


def single_precision(declared: UserDataset, table: csr_array, nodes: int, bounds: tuple[float, float]) -> csr_array:
    """The features as float32; values are compared with the bounds before rounding could move them."""
    if table.shape[0] != nodes or table.shape[1] == 0:
        raise UserError(f"{declared.features}: give one row of features for every node, in the order of the ids")
    low, high = bounds
    if np.isfinite(table.data).all() and ((table.data < low) | (table.data > high)).any():
        raise UserError(
            f"{declared.features}: a feature lies outside the declared bounds [{low:g}, {high:g}]; declare wider"
            " feature_bounds (from public knowledge, never from the values) or clip the features"
        )
    features = table.astype(np.float32)
    features.sort_indices()
    return features


def class_numbers(path: Path, nodes: int) -> NDArray[np.int64]:
    """(N,) int64 class of each node, -1 where the file names none."""
    ids, names = read_labels(path)
    if (ids >= nodes).any():
        raise UserError(f"{path}: a node id is not below the number of nodes; number them 0 to N-1")
    if len(np.unique(ids)) != len(ids):
        raise UserError(f"{path}: a node has two rows; give each node one class")
    known = sorted({name for name in names if name}, key=class_order)
    number = {name: index for index, name in enumerate(known)} | {"": -1}
    labels = np.full(nodes, -1, dtype=np.int64)
    labels[ids] = [number[name] for name in names]
    return labels


def class_order(name: str) -> tuple[int, int, str]:
    """Numbers by size, then words by code point."""
    is_number = name.isascii() and name.isdigit() and len(name) <= 18
    return (0, int(name), name) if is_number else (1, 0, name)
