from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.broadcasts.tree import ClusterTree
from tasks.errors import UserError
from tasks.seeds import generator


def merged_at_random(leaves: int, seed: int) -> ClusterTree:
    rng = generator(seed)
    alive, children = list(range(leaves)), []
    while len(alive) > 1:
        left, right = (alive.pop(int(rng.integers(len(alive)))) for _ in range(2))
        alive.append(leaves + len(children))
        children.append((left, right))
    return ClusterTree("random", "balanced", np.array(children, dtype=np.int32))


def leaves_below(tree: ClusterTree, node: int) -> set[int]:
    if node < tree.leaves:
        return {node}
    left, right = tree.children[node - tree.leaves].tolist()
    return leaves_below(tree, left) | leaves_below(tree, right)


@given(st.integers(2, 40), st.integers(0, 1000))
def test_layout_agrees_with_a_recursive_reading(leaves: int, seed: int):
    tree = merged_at_random(leaves, seed)
    layout = tree.layout
    root = 2 * leaves - 2
    assert layout.parent[root] == layout.sibling[root] == -1
    assert layout.depth[root] == 0
    assert sorted(layout.order) == list(range(leaves))
    for node in range(2 * leaves - 1):
        below = layout.order[layout.first[node] : layout.first[node] + layout.size[node]]
        assert set(below.tolist()) == leaves_below(tree, node)
        if node != root:
            parent = layout.parent[node]
            assert set(tree.children[parent - leaves].tolist()) == {node, layout.sibling[node]}
            assert layout.depth[node] == layout.depth[parent] + 1
    assert tree.depth == layout.depth[:leaves].max()


def test_equal_trees_give_equal_files_and_read_back(tmp_path: Path):
    tree = merged_at_random(9, 1)
    tree.save(tmp_path / "a.npz")
    merged_at_random(9, 1).save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    back = ClusterTree.load(tmp_path / "a.npz")
    assert np.array_equal(back.children, tree.children)
    assert (back.source, back.linkage) == ("random", "balanced")


def test_a_damaged_file_is_one_line(tmp_path: Path):
    (tmp_path / "t.npz").write_bytes(b"no archive")
    with pytest.raises(UserError, match=r"t\.npz"):
        ClusterTree.load(tmp_path / "t.npz")


@pytest.mark.parametrize(
    "children",
    [
        np.zeros((0, 2), dtype=np.int32),
        np.array([[0, 0]], dtype=np.int32),
        np.array([[0, 3], [1, 2]], dtype=np.int32),
        np.array([[0, 1]], dtype=np.int64),
    ],
)
def test_what_is_no_tree_is_refused(children: np.ndarray):
    with pytest.raises(UserError, match="cluster tree"):
        ClusterTree("random", "balanced", children)
