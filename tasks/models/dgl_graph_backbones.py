"""GCN and GIN on batched graphs from dgl's own layers and poolings: the third part of the adapter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import dgl
import numpy as np
import torch
from dgl.nn.pytorch import AvgPooling, GINConv, GraphConv, SumPooling
from torch import Tensor, nn

from tasks.models.graph_architecture import GraphArchitecture
from tasks.models.graph_network import GraphBatch, layer_widths, perceptron
from tasks.models.graph_stack import GraphStack


@dataclass(frozen=True)
class DglBatch:
    """A batched graph, with self-loops for GCN, and its features (N, d)."""

    graph: dgl.DGLGraph
    features: Tensor
    pooling: nn.Module

    def pooled(self, embedding: Tensor) -> Tensor:
        """Rows of one graph reduced to one, (G, h)."""
        rows: Tensor = self.pooling(self.graph, embedding)
        return rows


def dgl_layers(architecture: GraphArchitecture) -> list[nn.Module]:
    """``GraphConv`` with symmetric norm, or ``GINConv`` with the sum; parameters named as in the torch form."""
    hidden = architecture.hidden
    if architecture.backbone == "gcn":
        return [GraphConv(inputs, hidden) for inputs in layer_widths(architecture)]
    return [GINConv(perceptron(inputs, hidden), "sum") for inputs in layer_widths(architecture)]


def dgl_to_batch(architecture: GraphArchitecture, dtype: torch.dtype) -> Callable[[GraphStack], GraphBatch]:
    """Makes stacks into batches of the dgl form."""
    gcn = architecture.backbone == "gcn"
    pooling = AvgPooling() if gcn else SumPooling()

    def to_batch(stack: GraphStack) -> GraphBatch:
        heads = np.repeat(np.arange(stack.nodes), stack.degrees)
        tails = stack.adjacency().indices
        if gcn:
            loops = np.arange(stack.nodes)
            heads, tails = np.concatenate([heads, loops]), np.concatenate([tails, loops])
        pair = (torch.from_numpy(tails.astype(np.int64)), torch.from_numpy(heads.astype(np.int64)))
        graph = dgl.graph(pair, num_nodes=stack.nodes)
        graph.set_batch_num_nodes(torch.from_numpy(stack.node_counts))
        graph.set_batch_num_edges(torch.from_numpy(_edges_per_graph(stack, loops=gcn)))
        graph.create_formats_()
        return DglBatch(graph, torch.from_numpy(stack.features.toarray()).to(dtype), pooling)

    return to_batch


def _edges_per_graph(stack: GraphStack, *, loops: bool) -> np.ndarray:
    per_node = stack.degrees + 1 if loops else stack.degrees
    return np.add.reduceat(per_node, stack.starts)
