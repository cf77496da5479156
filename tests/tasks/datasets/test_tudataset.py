from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import networkx as nx
import numpy as np
import pytest

from tasks.datasets import tudataset
from tasks.datasets.catalogue.fetch import fetch_files
from tasks.datasets.catalogue.manifest import manifest
from tasks.errors import UserError

SMALL = {
    "A": "1, 2\n2, 1\n4, 5\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n3\n",
    "graph_labels": "1\n-1\n1\n",
    "node_labels": "0\n2\n0\n1\n1\n2\n",
}


def write(folder: Path, members: dict[str, str]) -> None:
    with ZipFile(folder / "MUTAG.zip", "w") as archive:
        for member, content in members.items():
            archive.writestr(f"MUTAG//MUTAG_{member}.txt", content)


def test_small_set(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    graphs = tudataset.parse("mutag", tmp_path)
    assert [graph.nodes for graph in graphs.graphs] == [3, 2, 1]
    assert [graph.edges for graph in graphs.graphs] == [1, 1, 0]
    np.testing.assert_array_equal(graphs.labels, [1, 0, 1])
    np.testing.assert_array_equal(graphs.graphs[0].features.toarray(), [[1, 0, 0], [0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(graphs.graphs[2].features.toarray(), [[0, 0, 1]])


def test_without_node_labels_there_are_no_features(tmp_path: Path) -> None:
    write(tmp_path, {key: value for key, value in SMALL.items() if key != "node_labels"})
    assert tudataset.parse("mutag", tmp_path).dimensions == 0


@pytest.mark.parametrize(
    ("member", "content"),
    [
        ("A", "1, 2, 3\n"),
        ("A", "1, 5\n"),
        ("A", "1, 99\n"),
        ("A", "0, 1\n"),
        ("graph_indicator", "2\n1\n1\n1\n1\n1\n"),
        ("graph_labels", "1\n"),
        ("graph_labels", "x\n"),
        ("node_labels", "1\n"),
    ],
)
def test_tables_that_disagree_are_one_clear_line(tmp_path: Path, member: str, content: str) -> None:
    write(tmp_path, SMALL | {member: content})
    with pytest.raises(UserError, match=r"MUTAG\.zip"):
        tudataset.parse("mutag", tmp_path)


def test_a_missing_table_is_one_clear_line(tmp_path: Path) -> None:
    write(tmp_path, {key: value for key, value in SMALL.items() if key != "A"})
    with pytest.raises(UserError, match=r"MUTAG\.zip"):
        tudataset.parse("mutag", tmp_path)


@pytest.mark.parametrize("name", ["proteins", "imdb-binary"])
def test_every_graph_agrees_with_networkx(mirror: str, tmp_path: Path, name: str) -> None:
    container = tudataset.CONTAINERS[name]
    fetch_files([manifest()[f"tudataset/{container}.zip"]], tmp_path)
    with ZipFile(tmp_path / f"{container}.zip") as archive:
        texts = {
            member: archive.read(f"{container}//{container}_{member}.txt").decode().split("\n")
            for member in ("A", "graph_indicator")
        }
    whole = nx.Graph()
    for node, number in enumerate(filter(None, texts["graph_indicator"]), start=1):
        whole.add_node(node, graph=int(number))
    whole.add_edges_from(tuple(map(int, line.split(","))) for line in texts["A"] if line)
    whole.remove_edges_from(list(nx.selfloop_edges(whole)))
    members: dict[int, list[int]] = {}
    for node, number in whole.nodes(data="graph"):
        members.setdefault(number, []).append(node)
    for number, graph in enumerate(tudataset.parse(name, tmp_path).graphs, start=1):
        dense = nx.to_numpy_array(whole.subgraph(members[number]).copy(), nodelist=members[number], dtype=np.int8)
        np.testing.assert_array_equal(graph.adjacency.toarray(), dense)
