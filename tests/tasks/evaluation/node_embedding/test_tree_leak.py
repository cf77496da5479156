"""The paper's tree gives every neighbour list away; the private one does not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from tasks.broadcasts.bins import random_bins
from tasks.client.fedwalk.degree import release_degrees
from tasks.client.fedwalk.neighbour_counts import release_neighbour_counts
from tasks.client.fedwalk.neighbour_lists import neighbour_lists
from tasks.client.fedwalk.structural_matrices import release_structural_matrices
from tasks.seeds import generator
from tests.tasks.evaluation.node_embedding.tree_leak import leak_of_neighbour_counts, leak_of_structural_matrices


@pytest.fixture(scope="module")
def adjacency() -> csr_array:
    """600 vertices, 10 neighbours each on average."""
    half = random_array((600, 600), density=10 / 1200, rng=generator(1)) > 0
    dense = (half + half.T).toarray()
    np.fill_diagonal(dense, False)
    return csr_array(dense.astype(np.int8))


@pytest.mark.parametrize("epsilon", ["0.1", "2"])
def test_papers_uploads_rebuild_the_lists(adjacency: csr_array, epsilon: str):
    lists, rng = neighbour_lists(adjacency, dataset="x"), generator(2)
    report = release_structural_matrices(lists, random_bins(600, 6, rng), epsilon, rng, dataset="x", simulated=True)
    leak = leak_of_structural_matrices(report, adjacency)
    assert leak.recall == 1.0
    assert leak.precision > 0.999
    assert leak.chance < 0.02


def test_private_uploads_leave_the_server_at_chance(adjacency: csr_array):
    lists, rng = neighbour_lists(adjacency, dataset="x"), generator(2)
    degrees = release_degrees(lists, "1", rng, dataset="x", simulated=True).degrees
    bins = random_bins(600, 6, rng)
    report = release_neighbour_counts(lists, degrees, bins, "1", rng, dataset="x", simulated=True)
    leak = leak_of_neighbour_counts(report, degrees, bins, adjacency)
    assert leak.recall < 0.06
    assert abs(leak.recall - leak.chance) < 0.03


def test_the_attack_on_counts_works_where_there_is_something_to_find(adjacency: csr_array):
    """Exact counts and a bin for every vertex are the list itself: the attack is no straw man."""
    lists, bins = neighbour_lists(adjacency, dataset="x"), np.arange(600, dtype=np.int32)
    report = release_neighbour_counts(lists, lists.degrees, bins, "inf", generator(1), dataset="x", simulated=True)
    assert leak_of_neighbour_counts(report, lists.degrees, bins, adjacency).recall == 1.0
