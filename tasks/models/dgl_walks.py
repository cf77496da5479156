"""Random walks by dgl's sampler: the second part of the adapter."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import dgl
import numpy as np
import torch
from numpy.typing import NDArray

# dgl keeps a generator for each thread, numbers the threads in the order in which they first draw, and adds the number
# to the seed. One thread that draws for all makes walks a function of the seed.
_SAMPLER = ThreadPoolExecutor(1, "dgl-walks")


def walk_graph(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> dgl.DGLGraph:
    """The graph of compressed neighbour lists."""
    nodes = len(indptr) - 1
    offsets, targets = torch.from_numpy(indptr), torch.from_numpy(indices.astype(np.int64))
    graph = dgl.graph(("csr", (offsets, targets, torch.empty(0, dtype=torch.int64))), num_nodes=nodes)
    return graph.formats(["csr"])


def dgl_random_walks(graph: dgl.DGLGraph, starts: NDArray[np.int64], length: int, seed: int) -> NDArray[np.int32]:
    """Uniform walks of ``length`` vertices, int32 (starts, length), -1 after a vertex without neighbours.

    Args:
        graph: from ``walk_graph``.
        starts: int64, the first vertices.
        length: vertices in a walk.
        seed: below 2^31; walks of the same seed are the same, whichever thread or process asks.
    """
    return _SAMPLER.submit(_walk, graph, starts, length, seed).result()


def _walk(graph: dgl.DGLGraph, starts: NDArray[np.int64], length: int, seed: int) -> NDArray[np.int32]:
    dgl.utils.set_num_threads(1)
    dgl.seed(seed)
    traces, _ = dgl.sampling.random_walk(graph, torch.from_numpy(starts), length=length - 1)
    return traces.numpy().astype(np.int32)
