"""Cora and CiteSeer as Planetoid ships them.

Source: Yang, Cohen, Salakhutdinov, "Revisiting Semi-Supervised Learning with Graph Embeddings", ICML 2016.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tasks.datasets.graph import RawGraph, undirected
from tasks.datasets.unpickle import read_pickle

# The files x and y repeat the first rows of allx and ally, so they are not needed.
PARTS = ("tx", "ty", "allx", "ally", "graph", "test.index")


def file_names(name: str) -> tuple[str, ...]:
    """The manifest's names of one set's files."""
    return tuple(f"planetoid/ind.{name}.{part}" for part in PARTS)


def parse(name: str, folder: Path) -> RawGraph:
    """Binary bag-of-words features, one class a node, undirected citations.

    The first rows are those of ``allx``; row i of ``tx`` belongs to the i-th number in ``test.index``. CiteSeer
    has 15 test numbers without a row: those nodes keep zero features and the label -1.
    """
    allx, ally, tx, ty, graph = (
        read_pickle(folder / f"ind.{name}.{part}") for part in ("allx", "ally", "tx", "ty", "graph")
    )
    test = np.loadtxt(folder / f"ind.{name}.test.index", dtype=np.int64)
    nodes = len(graph)
    row_of = np.concatenate([np.arange(allx.shape[0]), test])
    labels = np.full(nodes, -1, dtype=np.int64)
    labels[row_of] = classes(np.vstack([ally, ty]))
    heads = np.concatenate([np.full(len(tails), head, dtype=np.int64) for head, tails in graph.items()])
    tails = np.concatenate([np.asarray(tails, dtype=np.int64) for tails in graph.values()])
    adjacency, _, _ = undirected(nodes, heads, tails)
    return RawGraph(name, adjacency, stack(nodes, row_of, allx, tx), labels, private=False)


def classes(one_hot: NDArray[np.integer]) -> NDArray[np.int64]:
    """The class of each row of a (n, L) one-hot table, -1 for a row of zeros."""
    return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1).astype(np.int64)


def stack(nodes: int, row_of: NDArray[np.int64], upper: csr_array, lower: csr_array) -> csr_array:
    """(nodes, d) float32 whose row ``row_of[i]`` is the i-th row of the two tables, upper first."""
    parts = [coo_array(upper), coo_array(lower)]
    rows = row_of[np.concatenate([parts[0].row, parts[1].row + upper.shape[0]])]
    columns = np.concatenate([part.col for part in parts])
    values = np.concatenate([part.data for part in parts]).astype(np.float32)
    features = csr_array(coo_array((values, (rows, columns)), shape=(nodes, upper.shape[1])))
    features.sort_indices()
    return features
