from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage

from tasks.curator.fedwalk import cluster_tree
from tasks.curator.fedwalk.cluster_tree import linked_children, paper_tree, private_tree, random_tree
from tasks.curator.fedwalk.ordered_matrices import OrderedMatrices
from tasks.errors import UserError
from tasks.reports.fedwalk.neighbour_counts import NeighbourCountReport
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport
from tasks.reports.ledgers.ledger_line import LedgerLine
from tasks.seeds import generator

COUNTS, MATRICES = (
    LedgerLine("m", "d", slot, "r", "inf", "u", "s", "n", False, False) for slot in ("counts", "structural matrices")
)


def two_kinds() -> NeighbourCountReport:
    """Twenty vertices with few neighbours of low degree, and twenty with many of high degree."""
    rng = generator(1)
    counts = np.zeros((40, 8, 3), dtype=np.int32)
    counts[::2, 1] = rng.integers(1, 4, size=(20, 3))
    counts[1::2, 6] = rng.integers(80, 120, size=(20, 3))
    return NeighbourCountReport("inf", 1, counts, COUNTS)


@pytest.mark.parametrize("kind", ["balanced", "average", "complete"])
def test_every_linkage_separates_two_kinds_at_the_root(kind):
    tree = private_tree(two_kinds(), generator(2), linkage=kind)
    assert (tree.source, tree.linkage) == ("private", kind)
    left = tree.layout.order[: tree.layout.size[tree.children[-1, 0]]]
    assert len(left) == 20
    assert len(set((left % 2).tolist())) == 1


@pytest.mark.parametrize("kind", ["average", "complete"])
def test_linkages_are_scipys_on_the_same_distances(kind):
    values = generator(3).normal(size=30)
    matrices = OrderedMatrices(values.astype(np.float32).reshape(-1, 1), np.arange(31), np.ones(30, dtype=np.int64))
    pairs = np.array([abs(np.float32(a) - np.float32(b)) / 2 for i, a in enumerate(values) for b in values[i + 1 :]])
    expected = linkage(pairs, method=kind)
    ours = np.column_stack([linked_children(matrices, kind), expected[:, 2:]])
    assert np.array_equal(cut_tree(ours, 5), cut_tree(expected, 5))


def test_the_papers_tree_is_marked():
    rows = generator(1).normal(size=(30, 2)).astype(np.float32)
    report = StructuralMatrixReport("1", rows[:10], np.arange(0, 31, 3), rows, MATRICES)
    assert paper_tree(report, generator(1)).source == "paper"


def test_the_random_tree_is_balanced_and_follows_the_seed():
    first, again, other = (random_tree(100, generator(seed)) for seed in (1, 1, 2))
    assert first.depth == 7
    assert np.array_equal(first.children, again.children)
    assert not np.array_equal(first.layout.order, other.layout.order)


def test_what_cannot_be_built_is_refused(monkeypatch):
    with pytest.raises(UserError):
        random_tree(1, generator(1))
    with pytest.raises(UserError):
        private_tree(NeighbourCountReport("inf", 1, np.zeros((1, 8, 2), dtype=np.int32), COUNTS), generator(1))
    with pytest.raises(UserError, match="'single'"):
        private_tree(two_kinds(), generator(1), linkage="single")
    monkeypatch.setattr(cluster_tree, "ALL_PAIRS_LIMIT", 39)
    with pytest.raises(UserError, match=r"average.* 40 .*balanced"):
        private_tree(two_kinds(), generator(1), linkage="average")
