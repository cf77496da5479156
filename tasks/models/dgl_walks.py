"""Random walks by dgl's sampler: the second part of the adapter."""

from __future__ import annotations

import dgl
import numpy as np
import torch
from numpy.typing import NDArray


def seed_dgl_walks(seed: int) -> None:
    """Seeds dgl's sampler, which has no other state than this global one; one thread makes it reproducible."""
    dgl.utils.set_num_threads(1)
    dgl.seed(seed)


def walk_graph(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> dgl.DGLGraph:
    """The graph of compressed neighbour lists."""
    nodes = len(indptr) - 1
    offsets, targets = torch.from_numpy(indptr), torch.from_numpy(indices.astype(np.int64))
    graph = dgl.graph(("csr", (offsets, targets, torch.empty(0, dtype=torch.int64))), num_nodes=nodes)
    return graph.formats(["csr"])


def dgl_random_walks(graph: dgl.DGLGraph, starts: NDArray[np.int64], length: int) -> NDArray[np.int32]:
    """Uniform walks of ``length`` vertices, int32 (starts, length), -1 after a vertex without neighbours."""
    traces, _ = dgl.sampling.random_walk(graph, torch.from_numpy(starts), length=length - 1)
    return traces.numpy().astype(np.int32)
