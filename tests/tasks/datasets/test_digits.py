from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from tasks.datasets import digits
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("digits")
    digits.materialise(place)
    return place


@pytest.fixture(scope="module")
def graph(folder: Path) -> RawGraph:
    return digits.parse(folder)


def test_counts_and_note(graph: RawGraph) -> None:
    assert (graph.nodes, graph.dimensions, graph.classes) == (1797, 64, 10)
    assert graph.feature_bounds == (0.0, 1.0)
    assert any("illustration only" in note for note in graph.notes)
    assert not graph.private


def test_features_are_the_pixels_over_their_declared_bound(graph: RawGraph) -> None:
    pixels, labels = load_digits(return_X_y=True)
    np.testing.assert_array_equal(graph.features.toarray() * 16, pixels)
    np.testing.assert_array_equal(graph.labels, labels)


def test_edges_join_nearest_neighbours_and_only_them(graph: RawGraph) -> None:
    """Ties make the choice of the tenth neighbour a matter of rule, so distances are compared."""
    pixels, _ = load_digits(return_X_y=True)
    reach = NearestNeighbors(n_neighbors=digits.NEIGHBOURS).fit(pixels).kneighbors()[0][:, -1]
    heads, tails = graph.adjacency.nonzero()
    length = np.linalg.norm(pixels[heads] - pixels[tails], axis=1)
    assert (length <= np.maximum(reach[heads], reach[tails]) + 1e-9).all()
    within = np.zeros(graph.nodes, dtype=int)
    np.add.at(within, heads, length <= reach[heads] + 1e-9)
    assert (within >= digits.NEIGHBOURS).all()


def test_ties_go_to_the_lower_row() -> None:
    points = np.array([[0], [1], [1], [1]], dtype=np.uint8)
    np.testing.assert_array_equal(digits.nearest(points, 2), [[1, 2], [2, 3], [1, 3], [1, 2]])


def test_same_bytes_every_time(folder: Path, tmp_path: Path) -> None:
    digits.materialise(tmp_path)
    assert (tmp_path / digits.FILE).read_bytes() == (folder / digits.FILE).read_bytes()


def test_missing_and_damaged_files_are_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=digits.FILE):
        digits.parse(tmp_path)
    (tmp_path / digits.FILE).write_bytes(b"PK")
    with pytest.raises(UserError, match=digits.FILE):
        digits.parse(tmp_path)
