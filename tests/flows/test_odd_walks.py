"""Graphs that are odd in one way each, through the whole study of walks in every mode."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from flows.run.command_line import main
from tasks.parameters.embedding import EmbeddingMode
from tests.flows.conftest import write_parameters

STUDY = "node_embedding"
GRID: dict[str, Any] = {
    "modes": list(get_args(EmbeddingMode)),
    "parts": [{"modes": ["release-once"], "pad": True}],
    "walks": [1],
    "length": 8,
    "dimensions": 4,
    "window": 2,
    "train_ratios": [0.5],
    "splits": 1,
}
ODD = {
    "two vertices": (2, [(0, 1)]),
    "isolated vertices": (30, [(0, 1), (1, 2), (2, 0)]),
    "star": (30, [(0, leaf) for leaf in range(1, 30)]),
    "path": (30, [(node, node + 1) for node in range(29)]),
    "two components": (30, [(node, node + 1) for node in range(29) if node != 14]),
    "hub as large as BlogCatalog's": (3993, [(0, leaf) for leaf in range(1, 3993)]),
    "repeated edges and self-loops": (5, [(0, 1), (0, 1), (1, 0), (2, 2), (1, 2), (3, 4), (4, 4)]),
}

Study = Callable[..., tuple[int, list[str], list[dict[str, Any]]]]


@pytest.fixture
def study(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Study:
    """The command on a graph of two classes by turns; status, errors, rows."""

    def command(nodes: int, edges: list[tuple[int, int]]) -> tuple[int, list[str], list[dict[str, Any]]]:
        for name, lines in (("odd", edges), ("classes", [(node, node % 2) for node in range(nodes)])):
            text = "\n".join(f"{first},{second}" for first, second in lines)
            (workspace / f"{name}.csv").write_text(f"first,second\n{text}\n")
        odd = {"edges": "odd.csv", "labels": "classes.csv", "nodes": nodes, "private": False}
        write_parameters(workspace, {"odd": odd}, repeats=1)
        file = tmp_path / "rows.json"
        grid = [f"--set={STUDY}.{name}={json.dumps(value)}" for name, value in GRID.items()]
        status = main(STUDY, ["--plain", "--dataset", "odd", "--json", str(file), *grid])
        rows = json.loads(file.read_text()) if file.exists() else []
        return status, capsys.readouterr().err.splitlines(), rows

    return command


@pytest.mark.parametrize(("nodes", "edges"), ODD.values(), ids=ODD.keys())
def test_an_odd_graph_is_walked_in_every_mode(study: Study, nodes: int, edges: list[tuple[int, int]]) -> None:
    status, errors, rows = study(nodes, edges)
    assert status == 0, errors
    assert {row["settings"]["mode"] for row in rows} == set(GRID["modes"])
    assert {row["settings"].get("pad") for row in rows} == {None, "true"}
    assert all(0 <= row["value"] <= 1 for row in rows if row["metric"] in ("micro_f1", "macro_f1", "edge_recall"))


@pytest.mark.parametrize(
    ("nodes", "edges", "says"),
    [
        (3, [], "is empty"),
        (3, [(1, 1)], "no edge"),
        (3, [(0, 7)], "not below the number of nodes"),
        (1, [], "is empty"),
    ],
    ids=["no edge", "a self-loop alone", "an unknown vertex", "one vertex"],
)
def test_what_cannot_be_walked_is_refused_in_one_line(
    study: Study, nodes: int, edges: list[tuple[int, int]], says: str
) -> None:
    status, errors, rows = study(nodes, edges)
    assert (status, rows) == (2, [])
    (mistake,) = [line for line in errors if not line.startswith("computed in ")]
    assert mistake.startswith("error: ")
    assert says in mistake
