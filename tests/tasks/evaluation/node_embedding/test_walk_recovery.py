from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from tasks.errors import UserError
from tasks.evaluation.node_embedding.walk_recovery import (
    recovery_from_degrees,
    recovery_from_lists,
    recovery_from_walks,
)
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.fedwalk.walk_corpus import WalkCorpus
from tasks.reports.ledgers.ledger_line import LedgerLine
from tasks.seeds import generator

LINE = LedgerLine("m", "d", "encoded lists", "r", "1", "u", "s", "n", False, False)


def graph(nodes: int, pairs: list[tuple[int, int]]) -> csr_array:
    dense = np.zeros((nodes, nodes), dtype=np.int8)
    for head, tail in pairs:
        dense[head, tail] = dense[tail, head] = 1
    return csr_array(dense)


def corpus(folder: Path, walks: list[list[int]], nodes: int) -> WalkCorpus:
    return WalkCorpus.write(folder, [np.array(walks, dtype=np.int32)], nodes=nodes, length=len(walks[0]))


def test_the_most_frequent_pairs_are_guessed_in_either_order(tmp_path: Path):
    walks = corpus(tmp_path, [[0, 1, 0, 1], [2, 1, 2, -1], [3, 3, 0, 3]], 5)
    # (0,1) three times, (1,2) twice, (0,3) twice; a vertex beside itself is no pair.
    found = recovery_from_walks(walks, graph(5, [(0, 1), (1, 2), (3, 4)]))
    assert (found.edges, found.guesses) == (3, 3)
    assert found.precision == found.recall == pytest.approx(2 / 3)
    assert found.base_rate == pytest.approx(3 / 10)


def test_ties_for_the_last_place_count_in_expectation(tmp_path: Path):
    walks = corpus(tmp_path, [[0, 1, 0, 1], [2, 1, 2, -1], [3, 3, 0, 3]], 5)
    # Two guesses: (0,1) for certain, and (1,2) or (0,3) with one half each; only (1,2) is an edge.
    found = recovery_from_walks(walks, graph(5, [(1, 2), (2, 4)]))
    assert found.precision == pytest.approx(0.5 / 2)


def test_fewer_pairs_than_edges_give_a_precision_above_the_recall(tmp_path: Path):
    found = recovery_from_walks(corpus(tmp_path, [[0, 1, 0]], 4), graph(4, [(0, 1), (1, 2), (2, 3)]))
    assert (found.guesses, found.precision, found.recall) == (1, 1.0, pytest.approx(1 / 3))


def test_lists_are_read_by_the_agreement_of_both_ends():
    adjacency = graph(4, [(0, 1), (2, 3)])
    # 0 and 1 name each other, 0 names 2, 3 names itself.
    report = EncodedListReport("1", False, np.array([0, 2, 3, 3, 4]), np.array([1, 2, 0, 3], dtype=np.int32), LINE)
    found = recovery_from_lists(report, adjacency)
    assert found.guesses == 2
    assert found.precision == pytest.approx(1 / 2)


def test_counts_agree_with_a_plain_counter(tmp_path: Path):
    rng = generator(1)
    walks = rng.integers(0, 12, size=(40, 9)).astype(np.int32)
    half = random_array((12, 12), density=0.3, rng=rng) > 0
    adjacency = csr_array(((half + half.T).toarray() & ~np.eye(12, dtype=bool)).astype(np.int8))
    counter = Counter((min(a, b), max(a, b)) for walk in walks.tolist() for a, b in pairwise(walk) if a != b)
    edges = adjacency.nnz // 2
    last = sorted(counter.values(), reverse=True)[edges - 1]
    above = [pair for pair, count in counter.items() if count > last]
    tied = [pair for pair, count in counter.items() if count == last]
    share = (edges - len(above)) / len(tied)
    hits = sum(adjacency[pair] for pair in above) + share * sum(adjacency[pair] for pair in tied)
    found = recovery_from_walks(WalkCorpus.write(tmp_path, [walks], nodes=12, length=9), adjacency)
    assert found.precision == pytest.approx(hits / edges)


@pytest.mark.parametrize("spread", [3, 1000])
def test_degrees_guess_the_pairs_of_largest_product_counted_one_by_one(spread: int):
    rng = generator(spread)
    half = random_array((40, 40), density=0.15, rng=rng) > 0
    adjacency = csr_array(((half + half.T).toarray() & ~np.eye(40, dtype=bool)).astype(np.int8))
    degrees = rng.integers(-1, spread, size=40)
    weights = np.maximum(degrees, 0.5)
    upper = np.triu_indices(40, 1)
    products, edges = np.outer(weights, weights)[upper], adjacency.nnz // 2
    last = np.sort(products)[-edges]
    above, tied = products > last, products == last
    truth = adjacency.toarray()[upper]
    hits = truth[above].sum() + (edges - above.sum()) / tied.sum() * truth[tied].sum()
    found = recovery_from_degrees(degrees, adjacency)
    assert found.precision == found.recall == pytest.approx(hits / edges)
    assert found.base_rate == pytest.approx(truth.mean())


def test_equal_degrees_tell_nothing():
    adjacency = graph(30, [(i, (i + 1) % 30) for i in range(30)])
    found = recovery_from_degrees(np.full(30, 2), adjacency)
    assert found.precision == pytest.approx(found.base_rate)


def test_a_graph_without_edges_is_refused(tmp_path: Path):
    with pytest.raises(UserError):
        recovery_from_walks(corpus(tmp_path, [[0, 1]], 2), graph(2, []))
    with pytest.raises(UserError):
        recovery_from_degrees(np.array([1, 1]), graph(2, []))
