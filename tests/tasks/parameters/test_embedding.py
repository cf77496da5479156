from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from tasks.parameters.embedding import EmbeddingMode
from tasks.parameters.loading import load_parameters
from tests.tasks.parameters.conftest import SHIPPED, changed, load, refusal


def test_the_paper_grid_of_walks_is_fedwalks() -> None:
    """FedWalk's defaults, and the budgets that its walks are judged at."""
    grid = load_parameters(SHIPPED, "paper").paper.node_embedding
    assert (grid.walks, grid.length, grid.window, grid.dimensions, grid.splits) == ([80], 40, 10, 128, 10)
    assert (grid.eps_encoder, grid.bins, grid.p) == (["2"], ["auto"], [0.2])
    assert grid.train_ratios == [tenth / 10 for tenth in range(1, 10)]
    for dataset in grid.datasets:
        grids = [part for part, _ in grid.grids(dataset, 5)]
        assert {eps for part in grids for eps in part.eps_encoder} == {"0.25", "0.5", "1", "2"}
        full = {mode for part in grids for mode in part.modes if "2" in part.eps_encoder and part.walks == [80]}
        assert full == set(get_args(EmbeddingMode))
        assert any(part.p == [0] for part in grids)
        assert any(part.pad for part in grids)


def test_a_part_of_walks_is_the_studys_grid_with_what_it_names_on_its_data_sets(tmp_path: Path) -> None:
    part = {"datasets": ["ppi"], "repeats": 2, "bins": [3], "pad": False, "eps_encoder": ["0.50"]}
    tree = changed("demo.node_embedding", {"modes": ["walk"], "p": [0.1], "repeats": 4, "parts": [part, {"p": [0]}]})
    grid = load(tmp_path, tree).demo.node_embedding
    own, (theirs, twice), everywhere = grid.grids("ppi", 3)
    assert (own[0].p, own[0].pad, own[1]) == ([0.1], True, 3)
    assert (theirs.modes, theirs.p, theirs.bins, theirs.pad, theirs.eps_encoder) == (
        ["walk"],
        [0.1],
        [3],
        False,
        ["0.5"],
    )
    assert (twice, everywhere[0].p, everywhere[1]) == (2, [0], 3)
    assert grid.grids("blogcatalog", 5) == [(own[0], 4), (everywhere[0], 4)]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("bins", ["auto", 7], "auto"),
        ("bins", [0], "(got 0)"),
        ("bins", ["many"], "(got 'many')"),
        ("bins", [True], "(got True)"),
        ("modes", ["fly"], "'deepwalk'"),
        ("modes", ["walk", "walk"], "twice"),
        ("p", [1.0], "less than 1"),
        ("train_ratios", [1], "less than 1"),
        ("eps_degree", 0, "inf"),
        ("eps_counts", [1], "budget"),
        ("pad", "maybe", "true or false"),
        ("parts", [{"walks": []}], "walks"),
        ("parts", [{"length": 40}], "length"),
        ("repeats", 0, "1 or more"),
    ],
)
def test_walks_have_their_own_rules(tmp_path: Path, key: str, value: object, says: str) -> None:
    text = refusal(tmp_path, changed(f"demo.node_embedding.{key}", value))
    assert f"demo.node_embedding.{key}" in text
    assert says in text


def test_spellings_of_walks_are_one_value(tmp_path: Path) -> None:
    tree = changed("demo.node_embedding", {"bins": ["5", 7], "eps_encoder": [2.0], "p": ["2e-1"], "walks": ["80"]})
    grid = load(tmp_path, tree).demo.node_embedding
    assert (grid.bins, grid.eps_encoder, grid.p, grid.walks) == ([5, 7], ["2"], [0.2], [80])
