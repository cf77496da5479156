"""Graphs at the edge of what there is, through the whole study of graph kernels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from flows.run.command_line import main
from tasks.datasets.catalogue.readers import load_dataset
from tasks.datasets.graph import RawGraph, RawGraphSet, undirected
from tasks.steps import raw_source

STUDY = "graph_classification"
GRID = ['backbones=["gin"]', 'encoders=["per_row","paper"]', 'eps=["1/n","inf"]', "rounds=1", "clients=3"]
LARGE = 620
"""The nodes of the largest graph of PROTEINS."""

Study = Callable[..., tuple[int, list[str], list[dict[str, Any]]]]


def path_graph(nodes: int, like: RawGraph, edges: bool = True) -> RawGraph:
    """A path, or as many nodes apart, whose nodes are all of the first kind."""
    heads = np.arange(nodes - 1 if edges and nodes else 0)
    kinds = csr_array((nodes, like.dimensions), dtype=np.float32)
    if nodes:
        kinds = csr_array(np.eye(1, like.dimensions, dtype=np.float32).repeat(nodes, axis=0))
    return RawGraph("odd", undirected(nodes, heads, heads + 1)[0], kinds, private=False)


@pytest.fixture
def study(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Study]:
    """The command on thirty graphs of MUTAG, the first of which are replaced; status, errors and rows."""

    def command(*odd: Callable[[RawGraph], RawGraph]) -> tuple[int, list[str], list[dict[str, Any]]]:
        def replaced(name: str, *arguments: Any) -> Any:
            whole = load_dataset(name, *arguments)
            assert isinstance(whole, RawGraphSet)
            graphs = (*(make(whole.graphs[0]) for make in odd), *whole.graphs[len(odd) : 30])
            return replace(whole, graphs=graphs, labels=np.arange(30) % 2)

        monkeypatch.setattr(raw_source, "load_dataset", replaced)
        raw_source._load.cache_clear()
        file = tmp_path / "rows.json"
        grid = [f"--set={STUDY}.{setting}" for setting in GRID]
        status = main(STUDY, ["--plain", "--set=repeats=1", "--json", str(file), *grid])
        rows = json.loads(file.read_text()) if file.exists() else []
        return status, capsys.readouterr().err.splitlines(), rows

    yield command
    raw_source._load.cache_clear()


def test_one_node_no_edges_and_620_nodes_are_handled(study: Study) -> None:
    status, err, rows = study(
        lambda like: path_graph(1, like),
        lambda like: path_graph(5, like, edges=False),
        lambda like: path_graph(LARGE, like),
        lambda like: path_graph(LARGE, like, edges=False),
    )
    assert status == 0, err
    accuracies = [row for row in rows if row["metric"] == "accuracy"]
    # A network, four baselines, no noise and two encoders.
    assert len(accuracies) == 1 + 4 + 3
    assert all(np.isfinite(row["value"]) for row in rows)


def test_an_empty_graph_is_refused_in_one_line(study: Study) -> None:
    status, err, rows = study(lambda like: like, lambda like: path_graph(0, like))
    assert (status, rows) == (2, [])
    assert err[-1] == "error: mutag: graph 1 has no nodes; remove it"


def test_features_that_are_no_numbers_are_refused_in_one_line(study: Study) -> None:
    def broken(like: RawGraph) -> RawGraph:
        assert like.features is not None
        features = like.features.copy()
        features.data[0] = np.nan
        return replace(like, features=features)

    status, err, rows = study(broken)
    assert (status, rows) == (2, [])
    assert err[-1] == ("error: mutag/0: a feature is NaN or infinite; remove it or put a finite number in its place")
