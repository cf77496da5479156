"""What a client computes with the final weights: embeddings to encode, and predictions for its own use."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from tasks.broadcasts.weights import ModelWeights
from tasks.client.embedding_encoder import row_softmax
from tasks.models.graph_network import GraphBatch, GraphNetwork
from tasks.models.graph_stack import GraphStack

_GRAPHS_AT_ONCE = 256


def embed_graphs(graphs: GraphStack, weights: ModelWeights, network: GraphNetwork) -> list[NDArray[np.float64]]:
    """H of every graph, row-wise softmax, so that every cell lies in [0, 1].

    Args:
        graphs: G graphs. They do not influence each other: a client alone gets the same.
        weights: the broadcast.
        network: a workspace of the weights' architecture.
    """
    embeddings: list[NDArray[np.float64]] = []
    with torch.no_grad():
        for batch, counts in _batches(graphs, weights, network):
            rows = row_softmax(network.embed(batch).cpu().numpy())
            embeddings += np.split(rows, np.cumsum(counts)[:-1])
    return embeddings


def predict_graphs(graphs: GraphStack, weights: ModelWeights, network: GraphNetwork) -> NDArray[np.float32]:
    """Log-probabilities of the classes, (G, C), or (N, C) for a network at node level."""
    with torch.no_grad():
        parts = [
            torch.log_softmax(network.logits(batch), dim=1).cpu().numpy()
            for batch, _ in _batches(graphs, weights, network)
        ]
    return np.concatenate(parts).astype(np.float32)


def _batches(
    graphs: GraphStack, weights: ModelWeights, network: GraphNetwork
) -> Iterator[tuple[GraphBatch, NDArray[np.int64]]]:
    network.load(weights.values)
    network.eval()
    for start in range(0, graphs.graphs, _GRAPHS_AT_ONCE):
        part = graphs.subset(np.arange(start, min(start + _GRAPHS_AT_ONCE, graphs.graphs)))
        yield network.to_batch(part), part.node_counts
