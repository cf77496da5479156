"""Distance matrices of graphs drawn from a public set, in the kinds that the solver is measured on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from scipy.spatial.distance import cdist

from tasks.client.embedding_encoder import encode_embeddings
from tasks.client.graph_embedding import embed_graphs
from tasks.client.node_features import stacked
from tasks.client.shortest_paths import shortest_path_distances
from tasks.curator.embeddings import decoded
from tasks.curator.federation import initial_weights
from tasks.datasets.catalogue.readers import fetch_dataset, load_dataset
from tasks.datasets.graph import RawGraph, RawGraphSet
from tasks.models.graph_architecture import GraphArchitecture
from tasks.models.graph_backbones import build_graph_network
from tasks.seeds import generator

ENCODED = {
    "gaussian": ("gaussian_scale", "0.1"),
    "per_row": ("per_row", "100"),
    "row": ("row", "1"),
    "paper": ("paper", "1/n"),
}
RAW = Path(__file__).resolve().parents[1] / ".cache" / "benchmarks"


def drawn_graphs(dataset: str, count: int) -> list[RawGraph]:
    """``count`` graphs drawn at random, always the same ones."""
    fetch_dataset(dataset, RAW)
    whole = load_dataset(dataset, RAW)
    assert isinstance(whole, RawGraphSet)
    return [whole.graphs[k] for k in generator(0).choice(len(whole.graphs), count, replace=False)]


def clean_embeddings(graphs: list[RawGraph], backbone: str) -> list[np.ndarray]:
    """Softmax rows of an untrained network, as the pipeline makes them: structural twins get the same row."""
    stack = stacked(graphs)
    architecture = GraphArchitecture("gin" if backbone == "gin" else "gcn", stack.features.shape[1], 2)
    network = build_graph_network(architecture, device=torch.device("cpu"), form="torch")
    return embed_graphs(stack, initial_weights(architecture, 0), network)


def structures(dataset: str, kind: str, count: int) -> list[np.ndarray]:
    """Distances within ``count`` graphs, by ``kind``.

    paths; random; gcn and gin (clean); gaussian (noise 0.1); per_row and row (signs, eps 100 and 1) and paper (1/n).
    """
    graphs = drawn_graphs(dataset, count)
    if kind == "paths":
        return [shortest_path_distances(graph.adjacency) for graph in graphs]
    rng = generator(1)
    if kind == "random":
        rows = [rng.standard_normal((graph.nodes, 16)) for graph in graphs]
    else:
        rows = clean_embeddings(graphs, kind)
    if kind in ENCODED:
        encoder, epsilon = ENCODED[kind]
        rows = decoded(encode_embeddings(rows, encoder, epsilon, rng, True, dataset=dataset))
    return [cdist(part, part) for part in rows]
