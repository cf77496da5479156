from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tasks.curator.methods import METHODS
from tasks.parameters.loading import load_parameters
from tasks.parameters.profiles import PROFILES
from tests.tasks.parameters.conftest import SHIPPED, changed, load, refusal


def test_the_paper_grid_is_the_papers() -> None:
    """Solitude, table 3 (eps_x 1, eps_a from 7 to 8), figure 4 (eps_x 0.5, 2 too) and figure 5 (label rates)."""
    table, figure_4, figure_5, *_ = load_parameters(SHIPPED, "paper").paper.node_classification.grids()
    assert table.eps_x == ["1"]
    assert table.eps_a == figure_4.eps_a == ["7", "7.3", "7.5", "7.7", "7.9", "8"]
    assert figure_4.eps_x == ["0.5", "2"]
    assert (figure_5.eps_x, figure_5.eps_a) == (["1"], ["7.9"])
    assert [*figure_5.label_rates, *table.label_rates] == [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"label_rates": [0.6]}, "0.5"),
        ({"label_rates": [0]}, "(got 0)"),
        ({"eps_a": []}, "1 or more"),
        ({"mode": "both"}, "'directed'"),
        ({"datasets": ["cora"]}, "parts.0.datasets"),
    ],
)
def test_a_part_of_the_grid_is_checked_like_the_grid(tmp_path: Path, part: dict[str, Any], says: str) -> None:
    line = refusal(tmp_path, changed("demo.node_classification.parts", [part]))
    assert "demo.node_classification.parts.0" in line
    assert says in line


def test_a_part_is_the_studys_grid_but_for_what_it_names(tmp_path: Path) -> None:
    tree = changed("demo.node_classification.parts", [{"mode": "pair", "eps_a": [3]}])
    own, part = load(tmp_path, tree).demo.node_classification.grids()
    assert part == own.model_copy(update={"mode": "pair", "eps_a": ["3"]})


def test_a_method_may_have_a_grid_of_its_own(tmp_path: Path) -> None:
    study = load(tmp_path, changed("demo.node_classification.searches", {"base": {"epochs": 3}})).demo
    assert study.node_classification.search_for("base").epochs == 3
    assert study.node_classification.search_for("mutual") == study.node_classification.search
    unused = changed("demo.node_classification.searches", {"lpgnn": {"epochs": 3}})  # until somebody asks for it
    asked = load(tmp_path, unused, 'node_classification.methods=["lpgnn"]').demo.node_classification
    assert load(tmp_path, unused).demo.node_classification.searches == asked.searches
    assert asked.search_for("lpgnn").epochs == 3
    assert "'nobody'" in refusal(tmp_path, changed("demo.node_classification.searches", {"nobody": {}}))


def test_a_command_line_may_leave_searches_of_the_file_unused_but_not_its_own(tmp_path: Path) -> None:
    tree = changed("demo.node_classification.methods", ["base", "mutual"])
    tree["demo"]["node_classification"]["searches"] = {"base": {"epochs": 3}}
    narrow = 'node_classification.methods=["mutual"]'
    assert load(tmp_path, tree, narrow).demo.node_classification.methods == ["mutual"]
    for own in ('searches={"base": {}}', "searches.base={}", "searches.base.epochs=4", 'searches={"mutaul": {}}'):
        line = refusal(tmp_path, tree, narrow, f"node_classification.{own}")
        assert "searches" in line
        assert ("mutaul" if "mutaul" in own else "base") in line


def test_the_papers_methods_can_be_narrowed() -> None:
    chosen = load_parameters(
        SHIPPED, "paper", ['node_classification.methods=["mutual"]', "node_classification.parts=[]"]
    )
    assert {name for grid in chosen.paper.node_classification.grids() for name in grid.methods} == {"mutual"}
    assert load_parameters(SHIPPED, "paper", ['node_classification.methods=["mutual"]'])


def test_the_shipped_profiles_search_any_method_the_same_on_every_machine() -> None:
    asked = f"node_classification.methods={json.dumps(list(METHODS))}"
    for profile in PROFILES:
        study = getattr(load_parameters(SHIPPED, profile, [asked]), profile).node_classification
        assert all(study.search_for(method).minutes is None for method in METHODS)
