"""DeepWalk's walks over the true graph: the centralised baseline, which the evaluation alone may run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.models.dgl_walks import dgl_random_walks, walk_graph
from tasks.reports.fedwalk.walk_corpus import WalkCorpus


def deepwalk_corpus(
    adjacency: csr_array, folder: Path, rng: np.random.Generator, *, walks: int = 80, length: int = 40
) -> WalkCorpus:
    """Uniform walks from every vertex ``walks`` times, each round in a random order (Perozzi et al., KDD 2014).

    Args:
        adjacency: (V, V), the true graph.
        folder: receives the rounds.
        rng: source of the orders and of dgl's seeds.
        walks, length: as in ``release_walks``.
    """
    nodes = adjacency.shape[0]
    graph = walk_graph(adjacency.indptr.astype(np.int64), adjacency.indices)

    def rounds() -> Iterator[NDArray[np.int32]]:
        for _ in range(walks):
            yield dgl_random_walks(graph, rng.permutation(nodes), length, int(rng.integers(2**31)))

    return WalkCorpus.write(folder, rounds(), nodes=nodes, length=length)
