from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tasks.datasets.catalogue.public import PUBLIC
from tasks.datasets.catalogue.readers import READERS, fetch_dataset, load_dataset, parse_public
from tasks.datasets.graph import RawGraph, RawGraphSet
from tasks.datasets.splits import random_split
from tasks.datasets.user.declaration import UserDataset
from tasks.errors import UserError
from tasks.seeds import generator

# nodes or graphs, undirected edges (None where the table states none), features, classes
STATED = {
    "digits": (1797, None, 64, 10),
    "cora": (2708, 5278, 1433, 7),
    "citeseer": (3327, 4552, 3703, 6),
    "citeseer-lcc": (2110, 3668, 3703, 6),
    "facebook": (22470, 170823, 4714, 4),
    "mutag": (188, None, 7, 2),
    "proteins": (1113, None, 3, 2),
    "imdb-binary": (1000, None, 0, 2),
    "blogcatalog": (10312, 333983, 0, 39),
    "ppi": (3890, 37845, 0, 50),
}
OFFLINE = ("digits", "mutag")


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("raw")


def check_counts(name: str, raw: Path) -> None:
    fetch_dataset(name, raw)
    data = load_dataset(name, raw)
    size, edges, dimensions, classes = STATED[name]
    if isinstance(data, RawGraphSet):
        assert len(data.graphs) == size
        assert all(graph.nodes > 0 for graph in data.graphs)
    else:
        assert data.nodes == size
        assert edges in (None, data.edges)
    assert (data.name, data.dimensions, data.classes, data.private) == (name, dimensions, classes, False)
    assert (data.dimensions > 0) == (PUBLIC[name].feature_bounds is not None)
    if isinstance(data, RawGraph) and data.features is not None:
        assert data.feature_bounds == PUBLIC[name].feature_bounds


@pytest.mark.parametrize("name", OFFLINE)
def test_counts_without_a_network(raw: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", None)
    check_counts(name, raw)


@pytest.mark.parametrize("name", [name for name in STATED if name not in OFFLINE])
def test_counts_equal_the_stated_ones(mirror: str, raw: Path, name: str) -> None:
    check_counts(name, raw)


def test_citeseer_nodes_without_a_label_are_in_no_split(mirror: str, raw: Path) -> None:
    fetch_dataset("citeseer", raw)
    labels = load_dataset("citeseer", raw).labels
    split = random_split(labels, generator(0))
    dealt = np.concatenate([split.train, split.validation, split.test])
    assert len(dealt) == 3327 - 15
    assert (labels[dealt] >= 0).all()


def test_every_stated_set_is_registered() -> None:
    assert list(READERS) == list(PUBLIC)
    assert set(PUBLIC) == set(STATED) | {"lastfm", "flickr"}


@pytest.mark.parametrize("call", [fetch_dataset, load_dataset])
def test_unknown_name(raw: Path, call: object) -> None:
    with pytest.raises(UserError, match=r"'coral'.* digits, cora, .* mine, "):
        call("coral", raw, {"mine": UserDataset("mine", Path("edges.csv"))})


@pytest.mark.parametrize("name", PUBLIC)
def test_not_fetched(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=str(tmp_path)):
        load_dataset(name, tmp_path)


def test_a_file_damaged_after_its_arrival(mirror: str, tmp_path: Path) -> None:
    fetch_dataset("cora", tmp_path)
    victim = tmp_path / "cora" / "ind.cora.tx"
    victim.write_bytes(victim.read_bytes()[:-1])
    with pytest.raises(UserError, match=str(victim)):
        load_dataset("cora", tmp_path)
    fetch_dataset("cora", tmp_path)
    assert load_dataset("cora", tmp_path).nodes == 2708


def test_own_data_stay_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("0,1\n1,2\n")
    own = {"mine": UserDataset("mine", tmp_path / "edges.csv")}
    fetch_dataset("mine", tmp_path / "raw", own)
    assert not (tmp_path / "raw").exists()
    graph = load_dataset("mine", tmp_path / "raw", own)
    assert (graph.nodes, graph.edges, graph.private) == (3, 2, True)


def test_own_data_cannot_take_a_public_name(tmp_path: Path) -> None:
    own = {"cora": UserDataset("cora", tmp_path / "edges.csv")}
    with pytest.raises(UserError, match="'cora'"):
        load_dataset("cora", tmp_path, own)


def test_an_unwritable_place_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("a file, not a folder")
    with pytest.raises(UserError, match="raw/digits"):
        fetch_dataset("digits", tmp_path / "raw")


@pytest.mark.parametrize(
    "name",
    [name for name, dataset in READERS.items() if dataset.files and name not in ("blogcatalog", "flickr", "ppi")],
)
def test_whatever_the_files_hold_the_refusal_is_one_line(name: str, tmp_path: Path) -> None:
    for file in READERS[name].files:
        (tmp_path / Path(file).name).write_bytes(b"\xff\x00,1\n")
    with pytest.raises(UserError, match=str(tmp_path)):
        parse_public(name, tmp_path)
