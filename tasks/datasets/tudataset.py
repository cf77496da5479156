"""Sets of small graphs in the form of TUDataset: PROTEINS, IMDB-BINARY and MUTAG.

Source: Morris et al., "TUDataset: A collection of benchmark datasets for learning with graphs", 2020.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.datasets.archive import read_archive
from tasks.datasets.graph import RawGraph, RawGraphSet, undirected
from tasks.errors import UserError

CONTAINERS = {"mutag": "MUTAG", "proteins": "PROTEINS", "imdb-binary": "IMDB-BINARY"}
"""The archive of each set, by the set's name in the catalogue."""


@dataclass(frozen=True, eq=False)
class TUTables:
    """The tables of a set, nodes of all graphs numbered together.

    Attributes:
        pairs: (M, 2) int64, edge entries counted from 1, in one or both directions.
        graph_of: (N,) int64, the graph of each node, counted from 1, ascending.
        graph_labels: (G,) int64.
        node_labels: (N,) int64, or None where nodes have none.
    """

    pairs: NDArray[np.int64]
    graph_of: NDArray[np.int64]
    graph_labels: NDArray[np.int64]
    node_labels: NDArray[np.int64] | None


def parse(name: str, folder: Path) -> RawGraphSet:
    """The set in the folder's zip archive."""
    container = CONTAINERS[name]
    path = folder / f"{container}.zip"
    contents = read_archive(path)
    files = {member: contents.get(f"{container}/{container}_{member}.txt") for member in MEMBERS}
    try:
        return assemble(name, tables(files))
    except (IndexError, ValueError, TypeError) as error:
        raise UserError(f"{path}: not the published tables; delete it and download it again") from error


MEMBERS = ("A", "graph_indicator", "graph_labels", "node_labels")


def tables(files: dict[str, bytes | None]) -> TUTables:
    """Reads the text members by their names in ``MEMBERS``."""
    pairs, graph_of, graph_labels, node_labels = (integers(files[member]) for member in MEMBERS)
    if pairs is None or graph_of is None or graph_labels is None:
        raise ValueError("a table is missing")
    return TUTables(pairs.reshape(-1, 2), graph_of, graph_labels, node_labels)


def integers(content: bytes | None) -> NDArray[np.int64] | None:
    """The whole numbers of a text file, None for no file."""
    return None if content is None else np.loadtxt(io.BytesIO(content), dtype=np.int64, delimiter=",")


def assemble(name: str, given: TUTables) -> RawGraphSet:
    """One RawGraph per graph; node labels become one-hot features, graph labels 0, 1, ... in ascending order."""
    first = np.searchsorted(given.graph_of, np.arange(1, len(given.graph_labels) + 2))
    edge_graph = given.graph_of[given.pairs[:, 0] - 1] - 1
    order = np.argsort(edge_graph, kind="stable")
    blocks = np.split(given.pairs[order] - 1, np.searchsorted(edge_graph[order], np.arange(1, len(given.graph_labels))))
    hot = None if given.node_labels is None else one_hot(given.node_labels)
    graphs = []
    for number, pairs in enumerate(blocks):
        start, end = first[number], first[number + 1]
        adjacency, _, _ = undirected(end - start, pairs[:, 0] - start, pairs[:, 1] - start)
        features = None if hot is None else hot[start:end]
        graphs.append(RawGraph(f"{name}/{number}", adjacency, features, private=False))
    _, labels = np.unique(given.graph_labels, return_inverse=True)
    return RawGraphSet(name, tuple(graphs), labels.astype(np.int64), private=False)


def one_hot(node_labels: NDArray[np.int64]) -> csr_array:
    """(N, kinds) float32 with a 1 in the column of each node's label, labels in ascending order."""
    kinds, column = np.unique(node_labels, return_inverse=True)
    rows = np.arange(len(node_labels) + 1)
    return csr_array((np.ones(len(node_labels), np.float32), column, rows), shape=(len(node_labels), len(kinds)))
