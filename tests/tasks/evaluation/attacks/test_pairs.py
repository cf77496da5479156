from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.datasets.graph import RawGraph, undirected
from tasks.errors import UserError
from tasks.evaluation.attacks.pairs import entries, sample_pairs
from tasks.seeds import generator


def test_every_edge_stands_against_a_pair_without_one(graph: RawGraph) -> None:
    sample = sample_pairs(graph, generator(0))
    dense = graph.adjacency.toarray()
    assert (sample.heads < sample.tails).all()
    assert len({*zip(sample.heads.tolist(), sample.tails.tolist(), strict=True)}) == 2 * graph.edges
    assert np.array_equal(dense[sample.heads, sample.tails] == 1, sample.edge)
    assert sample.edge.sum() == graph.edges


def test_the_seed_decides_the_sample(graph: RawGraph) -> None:
    one, same, other = (sample_pairs(graph, generator(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.heads, same.heads)
    assert not np.array_equal(one.heads, other.heads)


def test_other_pairs_are_drawn_uniformly() -> None:
    """Of a ring of eight nodes, each of the twenty other pairs is as likely."""
    ring = undirected(8, np.arange(8), (np.arange(8) + 1) % 8)[0]
    found = np.zeros((8, 8))
    for seed in range(2000):
        sample = sample_pairs(RawGraph("ring", ring, private=False), generator(seed))
        found[sample.heads[~sample.edge], sample.tails[~sample.edge]] += 1
    counts = found[found > 0]
    assert len(counts) == 20
    # Mean 800, standard deviation sqrt(2000 * .4 * .6) = 22
    assert abs(counts - 800).max() < 5 * 22


@pytest.mark.parametrize("edges", [[], [(0, 1), (1, 2), (0, 2)]], ids=["none", "all"])
def test_a_graph_without_either_kind_is_refused(edges: list[tuple[int, int]]) -> None:
    heads, tails = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    with pytest.raises(UserError, match="few"):
        sample_pairs(RawGraph("few", undirected(3, heads, tails)[0], private=False), generator(0))


def test_a_private_graph_is_refused(secret: RawGraph) -> None:
    with pytest.raises(UserError, match=r"'planted'.*private"):
        sample_pairs(secret, generator(0))


def test_entries_are_those_of_the_dense_matrix() -> None:
    rng = np.random.default_rng(0)
    dense = rng.random((7, 5)) * (rng.random((7, 5)) < 0.4)
    rows, columns = rng.integers(7, size=50), rng.integers(5, size=50)
    assert np.array_equal(entries(csr_array(dense), rows, columns), dense[rows, columns])
    assert np.array_equal(entries(csr_array((7, 5)), rows, columns), np.zeros(50))
