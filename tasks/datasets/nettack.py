"""CiteSeer's largest component: 2110 nodes and 3668 edges, the size stated in the papers.

Source: Zuegner, Akbarnejad, Guennemann, "Adversarial Attacks on Neural Networks for Graph Data", KDD 2018.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from tasks.datasets.graph import RawGraph, undirected

FILE = "nettack/citeseer.npz"


def parse(folder: Path) -> RawGraph:
    """Binary bag-of-words features, one of six classes a node."""
    with np.load(folder / Path(FILE).name, allow_pickle=False) as stored:
        heads, tails = sparse(stored, "adj").nonzero()
        features, labels = sparse(stored, "attr"), stored["labels"]
    adjacency, _, _ = undirected(len(labels), heads, tails)
    _, component = connected_components(adjacency, directed=False)
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    return RawGraph(
        "citeseer-lcc",
        adjacency[kept][:, kept],
        features[kept].astype(np.float32),
        labels[kept].astype(np.int64),
        private=False,
    )


def sparse(stored: NpzFile, prefix: str) -> csr_array:
    """The sparse array kept under ``prefix``, with sorted indices."""
    parts = (stored[f"{prefix}_data"], stored[f"{prefix}_indices"], stored[f"{prefix}_indptr"])
    matrix = csr_array(parts, shape=tuple(stored[f"{prefix}_shape"]))
    matrix.sum_duplicates()
    return matrix
