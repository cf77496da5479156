from __future__ import annotations

import math
from pathlib import Path

import pytest

from tasks.parameters.loading import load_parameters
from tests.tasks.parameters.conftest import SHIPPED, changed, load, refusal


def test_the_paper_grid_of_graphs_is_the_papers_and_wider_budgets() -> None:
    grid = load_parameters(SHIPPED, "paper").paper.graph_classification
    assert grid.datasets == ["mutag", "proteins", "imdb-binary"]
    assert grid.eps == ["1/n", "0.1", "1", "10", "100", "1000", "inf"]
    assert grid.encoders == ["per_row", "row", "paper", "gaussian_scale"]
    assert (grid.backbones, grid.rounds, grid.clients) == (["gcn", "gin"], 200, 10)
    assert (grid.cure, grid.gamma_unit, grid.metric, grid.rectify) == ("none", "median", "euclidean", False)


def test_one_over_n_is_a_budget_of_graphs_alone(tmp_path: Path) -> None:
    tree = changed("demo.graph_classification", {"eps": ["1 / N", 1.0, math.inf]})
    assert load(tmp_path, tree).demo.graph_classification.eps == ["1/n", "1", "inf"]
    assert "'1/n'" in refusal(tmp_path, changed("demo.node_embedding.eps_encoder", ["1/n"]))


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("encoders", ["gauss"], "'per_row'"),
        ("eps", [0], "inf"),
        ("solver", {"block": 0}, "solver.block"),
        ("cure", "mirror", "'none'"),
        ("baselines", ["spk", "spk"], "'spk'"),
    ],
)
def test_graphs_have_their_own_rules(tmp_path: Path, key: str, value: object, says: str) -> None:
    text = refusal(tmp_path, changed(f"demo.graph_classification.{key}", value))
    assert f"demo.graph_classification.{key}" in text
    assert says in text
