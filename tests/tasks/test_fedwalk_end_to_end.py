"""FedWalk from lists to an embedding, on graphs that are odd in one way each, and on a real one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.broadcasts.bins import default_bin_count, random_bins
from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.degree import release_degrees
from tasks.client.fedwalk.encoded_lists import release_lists
from tasks.client.fedwalk.neighbour_counts import release_neighbour_counts
from tasks.client.fedwalk.neighbour_lists import NeighbourLists, neighbour_lists
from tasks.client.fedwalk.protocol import expected_messages
from tasks.client.fedwalk.walks import release_walks
from tasks.curator.fedwalk.cluster_tree import private_tree
from tasks.curator.fedwalk.list_walks import walk_lists
from tasks.curator.fedwalk.skip_gram import skip_gram
from tasks.datasets.catalogue.readers import fetch_dataset, load_dataset
from tasks.datasets.graph import RawGraph
from tasks.evaluation.node_embedding.walk_recovery import recovery_from_lists, recovery_from_walks
from tasks.seeds import generator

SIMULATED = {"dataset": "x", "simulated": True}
SHORT = {"walks": 2, "length": 8}
ODD = {
    "two vertices": (2, [(0, 1)]),
    "isolated vertices": (30, [(0, 1), (1, 2), (2, 0)]),
    "star": (30, [(0, leaf) for leaf in range(1, 30)]),
    "path": (30, [(v, v + 1) for v in range(29)]),
    "two components": (30, [(v, v + 1) for v in range(29) if v != 14]),
    "duplicates and self-loops": (5, [(0, 1), (0, 1), (1, 0), (2, 2), (1, 2)]),
}


def adjacency(nodes: int, pairs: list[tuple[int, int]]) -> csr_array:
    """Every pair as often as listed: repeated entries stay repeated."""
    heads, tails = np.array(pairs + [pair[::-1] for pair in pairs]).T
    order = np.argsort(heads, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(heads, minlength=nodes))])
    return csr_array((np.ones(len(heads), dtype=np.int8), tails[order], indptr), shape=(nodes, nodes))


def tree_and_degrees(lists: NeighbourLists) -> tuple[ClusterTree, np.ndarray]:
    rng = generator(1)
    degrees = release_degrees(lists, "1", rng, **SIMULATED).degrees
    bins = random_bins(lists.nodes, default_bin_count(lists.nodes), rng)
    return private_tree(release_neighbour_counts(lists, degrees, bins, "1", rng, **SIMULATED), rng), degrees


@pytest.mark.parametrize(("nodes", "pairs"), ODD.values(), ids=ODD.keys())
def test_odd_graphs_reach_an_embedding_in_both_modes(tmp_path: Path, nodes: int, pairs: list[tuple[int, int]]):
    lists = neighbour_lists(adjacency(nodes, pairs), dataset="x")
    tree, degrees = tree_and_degrees(lists)
    report = release_walks(lists, tree, "1", tmp_path / "walks", generator(2), **SHORT, **SIMULATED)
    noisy = release_lists(lists, tree, "1", generator(2), published_degrees=degrees, **SIMULATED)
    listed = walk_lists(noisy, tmp_path / "lists", generator(3), **SHORT)
    for corpus in (report.corpus, listed):
        embedding = skip_gram(corpus, seed=1, dimensions=4)
        assert embedding.shape == (nodes, 4)
        assert np.isfinite(embedding).all()


def test_ppi_walks_cost_what_the_formula_says_and_give_the_edges_away(tmp_path: Path, mirror: str):
    fetch_dataset("ppi", tmp_path)
    graph = load_dataset("ppi", tmp_path)
    assert isinstance(graph, RawGraph)
    lists = neighbour_lists(graph.adjacency, dataset="ppi")
    tree, _ = tree_and_degrees(lists)
    report = release_walks(lists, tree, "2", tmp_path / "walks", generator(2), walks=10, **SIMULATED)
    assert report.traffic.messages_per_walk == pytest.approx(expected_messages(40, 0.2), rel=0.005)
    assert recovery_from_walks(report.corpus, graph.adjacency).recall > 0.9
    listed = {
        epsilon: recovery_from_lists(release_lists(lists, tree, epsilon, generator(4), **SIMULATED), graph.adjacency)
        for epsilon in ("0.25", "2")
    }
    assert listed["2"].recall > 0.8
    assert listed["0.25"].recall < 0.1
