from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tasks.datasets import mutag, tudataset
from tasks.datasets.catalogue.fetch import fetch_files
from tasks.datasets.catalogue.manifest import manifest
from tasks.errors import UserError


def test_counts(tmp_path: Path) -> None:
    mutag.materialise(tmp_path)
    graphs = mutag.parse(tmp_path)
    assert (len(graphs.graphs), graphs.dimensions, graphs.classes) == (188, 7, 2)
    assert not graphs.private
    assert all(graph.features.sum() == graph.nodes for graph in graphs.graphs)


def test_the_wheel_holds_what_the_archive_holds(mirror: str, tmp_path: Path) -> None:
    fetch_files([manifest()["tudataset/MUTAG.zip"]], tmp_path)
    mutag.materialise(tmp_path)
    ours, published = mutag.parse(tmp_path), tudataset.parse("mutag", tmp_path)
    np.testing.assert_array_equal(ours.labels, published.labels)
    for one, other in zip(ours.graphs, published.graphs, strict=True):
        np.testing.assert_array_equal(one.adjacency.toarray(), other.adjacency.toarray())
        np.testing.assert_array_equal(one.features.toarray(), other.features.toarray())


def test_same_bytes_every_time(tmp_path: Path) -> None:
    contents = []
    for _ in range(2):
        mutag.materialise(tmp_path)
        contents.append((tmp_path / mutag.FILE).read_bytes())
    assert contents[0] == contents[1]


def test_missing_and_damaged_files_are_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=mutag.FILE):
        mutag.parse(tmp_path)
    (tmp_path / mutag.FILE).write_bytes(b"PK")
    with pytest.raises(UserError, match=mutag.FILE):
        mutag.parse(tmp_path)
