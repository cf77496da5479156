from __future__ import annotations

import hashlib
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from tasks.datasets import musae
from tasks.datasets.catalogue.fetch import fetch_files
from tasks.datasets.catalogue.manifest import manifest
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError


def test_lastfm_structure(mirror: str, tmp_path: Path) -> None:
    """The features come from an archive that is not mirrored; edges and classes can be counted without it."""
    fetch_files([manifest()[file] for file in musae.LASTFM_FILES[:2]], tmp_path)
    adjacency, labels = musae.lastfm_structure(tmp_path)
    assert (adjacency.shape[0], adjacency.nnz // 2) == (7624, 27806)
    kept = labels >= 0
    graph = RawGraph("lastfm", adjacency[kept][:, kept], labels=labels[kept], private=False)
    assert (graph.nodes, graph.edges, graph.classes) == (7083, 25814, 10)
    sizes = np.bincount(graph.labels)
    assert (np.diff(sizes) <= 0).all(), "classes are numbered from the largest"
    targets = np.loadtxt(tmp_path / "lastfm_asia_target.csv", delimiter=",", skiprows=1, dtype=int)[:, 1]
    assert sizes[-1] >= np.sort(np.bincount(targets))[-10]


def test_lastfm_without_the_published_features(tmp_path: Path) -> None:
    (tmp_path / "lastfm_asia_target.csv").write_text("id,target\n1,17\n0,10\n2,1\n")
    (tmp_path / "lastfm_asia_edges.csv").write_text("node_1,node_2\n0,1\n1,2\n")
    with ZipFile(tmp_path / "lastfm_asia.zip", "w") as archive:
        archive.writestr(musae.LASTFM_FEATURES, '{"0": [1], "1": [2], "2": []}')
    with pytest.raises(UserError, match=musae.LASTFM_FEATURES):
        musae.parse_lastfm(tmp_path)


def test_lastfm_keeps_the_ten_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lastfm_asia_target.csv").write_text("id,target\n1,17\n0,10\n2,1\n")
    (tmp_path / "lastfm_asia_edges.csv").write_text("node_1,node_2\n0,1\n1,2\n")
    with ZipFile(tmp_path / "lastfm_asia.zip", "w") as archive:
        archive.writestr(musae.LASTFM_FEATURES, '{"1": [2, 2], "0": [1], "2": []}')
    digest = hashlib.sha256(b'{"1": [2, 2], "0": [1], "2": []}').hexdigest()
    monkeypatch.setattr(musae, "LASTFM_FEATURES_SHA256", digest)
    graph = musae.parse_lastfm(tmp_path)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(graph.labels, [1, 0])
    np.testing.assert_array_equal(np.argwhere(graph.features.toarray()), [[0, 1], [1, 2]])
    assert graph.features.data.tolist() == [1, 1]


def test_facebook_names_may_hold_commas_and_any_letter(tmp_path: Path) -> None:
    (tmp_path / "facebook_target.csv").write_text(
        'id,facebook_id,page_name,page_type\n1,7,"A, B 中国好声音",tvshow\n0,8,C,company\n', encoding="utf-8"
    )
    (tmp_path / "facebook_edges.csv").write_text("id_1,id_2\n0,1\n1,1\n1,0\n")
    (tmp_path / "facebook_features.json").write_text('{"1": [4713], "0": []}')
    graph = musae.parse_facebook(tmp_path)
    assert (graph.nodes, graph.edges, graph.dimensions) == (2, 1, 4714)
    np.testing.assert_array_equal(graph.labels, [0, 1])
    assert graph.features[1, 4713] == 1
