from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from tasks.datasets.catalogue.readers import fetch_dataset, load_dataset
from tasks.datasets.planetoid import classes, stack


@pytest.fixture(scope="module")
def raw(mirror: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    for name in ("cora", "citeseer"):
        fetch_dataset(name, folder)
    return folder


def trusted(raw: Path, name: str, part: str) -> Any:
    """The file by Python's own reader: its sha256 is the published one."""
    return pickle.loads((raw / name / f"ind.{name}.{part}").read_bytes(), encoding="latin1")


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_edges_agree_with_networkx(raw: Path, name: str) -> None:
    reference = nx.Graph(nx.from_dict_of_lists(trusted(raw, name, "graph")))
    reference.remove_edges_from(list(nx.selfloop_edges(reference)))
    dense = nx.to_numpy_array(reference, nodelist=range(len(reference)), dtype=np.int8)
    np.testing.assert_array_equal(load_dataset(name, raw).adjacency.toarray(), dense)


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_every_row_is_at_its_node(raw: Path, name: str) -> None:
    graph = load_dataset(name, raw)
    test = [int(line) for line in (raw / name / f"ind.{name}.test.index").read_text().split()]
    known = trusted(raw, name, "allx").shape[0]
    np.testing.assert_array_equal(graph.features[:known].toarray(), trusted(raw, name, "allx").toarray())
    np.testing.assert_array_equal(graph.features[test].toarray(), trusted(raw, name, "tx").toarray())
    np.testing.assert_array_equal(graph.labels[:known], trusted(raw, name, "ally").argmax(axis=1))
    np.testing.assert_array_equal(graph.labels[test], trusted(raw, name, "ty").argmax(axis=1))


def test_citeseer_has_nodes_without_rows_and_without_neighbours(raw: Path) -> None:
    graph = load_dataset("citeseer", raw)
    unknown = np.flatnonzero(graph.labels == -1)
    assert len(unknown) == 15
    assert graph.features[unknown].nnz == 0
    assert (np.diff(graph.adjacency.indptr) == 0).sum() == 48
    loops = {node for node, tails in trusted(raw, "citeseer", "graph").items() if node in tails}
    assert len(loops) == 124


def test_classes_of_one_hot_rows() -> None:
    np.testing.assert_array_equal(classes(np.array([[0, 1], [1, 0], [0, 0]])), [1, 0, -1])


def test_stack_leaves_gaps_empty() -> None:
    upper, lower = csr_array(np.eye(2)), csr_array(np.array([[1.0, 1.0], [0.0, 1.0]]))
    stacked = stack(5, np.array([0, 1, 4, 2]), upper, lower)
    np.testing.assert_array_equal(stacked.toarray(), [[1, 0], [0, 1], [0, 1], [0, 0], [1, 1]])
