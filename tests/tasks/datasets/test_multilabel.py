from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array

from tasks.datasets import multilabel
from tasks.errors import UserError


def test_network_and_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = np.array([[1, 2, 0], [2, 0, 1], [0, 1, 0]])
    group = np.array([[1, 0], [0, 0], [1, 1]])
    savemat(tmp_path / "flickr.mat", {"network": csc_array(network * 1.0), "group": csc_array(group * 1.0)})
    monkeypatch.setitem(multilabel.SIZES, "flickr", (3, 2, 2))
    graph = multilabel.parse("flickr", tmp_path)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(graph.label_sets.toarray(), group)
    assert graph.labels is None
    assert graph.features is None


def test_another_size_is_refused(tmp_path: Path) -> None:
    """Nobody published Flickr's hash, so its size is the check."""
    savemat(tmp_path / "flickr.mat", {"network": csc_array((2, 2)), "group": csc_array((2, 1))})
    with pytest.raises(UserError, match=r"flickr\.mat.*80513, 5899882, 195"):
        multilabel.parse("flickr", tmp_path)


@pytest.mark.parametrize("content", [b"", b"MATLAB", bytes(200), b"MATLAB 5.0 MAT-file".ljust(300, b"x")])
def test_damaged_files_are_one_clear_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "flickr.mat").write_bytes(content)
    with pytest.raises(UserError, match=r"flickr\.mat"):
        multilabel.parse("flickr", tmp_path)


def test_missing_variables(tmp_path: Path) -> None:
    savemat(tmp_path / "flickr.mat", {"network": csc_array((2, 2))})
    with pytest.raises(UserError, match=r"flickr\.mat"):
        multilabel.parse("flickr", tmp_path)
