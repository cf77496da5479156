from __future__ import annotations

from pathlib import Path

import pytest

from flows.results.report import comparison
from flows.studies.registry import STUDIES, declared
from tasks.evaluation.graph_classification.graph_figures import draw_graphs
from tasks.evaluation.tables.reference import beside
from tasks.evaluation.tables.rows import Row
from tasks.evaluation.tables.summary import summary

STUDY = "graph_classification"


def rows() -> list[Row]:
    lines = [
        ("node-count", {"input": "node counts"}),
        ("spk", {"input": "raw"}),
        ("gin", {"input": "raw", "backbone": "gin"}),
        ("svm-gw", {"input": "gin-H", "backbone": "gin", "encoder": "none", "eps": "inf"}),
        *(
            ("svm-gw", {"input": "gin-H-ldp", "backbone": "gin", "encoder": encoder, "eps": eps})
            for encoder in ("per_row", "gaussian_scale")
            for eps in ("1/n", "100")
        ),
    ]
    return [
        Row(STUDY, "mutag", method, settings, repeat, metric, value)
        for method, settings in lines
        for repeat, value in enumerate((0.8, 0.9))
        for metric in ("accuracy", *(["gw_mean", "knn_5_accuracy"] if "eps" in settings else []))
    ]


def test_published_figures_stand_beside_the_budget_they_are_for() -> None:
    compared = beside(summary(rows()), declared(STUDY).outputs().published())
    known = compared[compared["item"] != ""]
    found = {(line["input"], line["encoder"], line["eps"]): line["reference_mean"] for line in known.to_dict("records")}
    assert found == {
        ("raw", "", ""): pytest.approx(0.8295),
        ("gin-H", "none", "inf"): pytest.approx(0.9308),
        ("gin-H-ldp", "per_row", "1/n"): pytest.approx(0.9117),
        ("gin-H-ldp", "gaussian_scale", "1/n"): pytest.approx(0.9117),
    }
    (line,) = [line for line in comparison(compared, STUDIES).splitlines() if "per_row" in line and "eps=1/n" in line]
    assert "0.850" in line
    assert "0.912" in line


def test_figures_are_functions_of_the_table_and_drawn_where_it_has_rows(tmp_path: Path) -> None:
    compared = beside(summary(rows()), declared(STUDY).outputs().published())
    first, second = draw_graphs(compared, tmp_path / "one"), draw_graphs(compared, tmp_path / "two")
    assert [path.name for path in first] == ["accuracy_by_epsilon.png", "knn_5_by_epsilon.png", "gw_by_epsilon.png"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in first)


def test_other_studies_draw_nothing(tmp_path: Path) -> None:
    other = [Row("node_classification", "cora", "base", {"eps_a": "7"}, 0, "accuracy", 0.5)]
    assert draw_graphs(summary(other), tmp_path / "none") == []
    assert not (tmp_path / "none").exists()
