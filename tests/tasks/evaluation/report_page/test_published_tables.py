from __future__ import annotations

import pandas as pd

from tasks.evaluation.report_page.published_tables import published_list, published_matrices
from tasks.evaluation.tables.reference import beside
from tasks.evaluation.tables.rows import Row
from tasks.evaluation.tables.summary import summary

STUDY = "node_classification"
CONTROLS = {"method": {"base": "no calibration", "label-propagation": "no features"}}


def compared() -> pd.DataFrame:
    shared = {"mode": "directed", "label_rate": "0.5"}
    points = [
        ("base", "gcn", "1", "7", 0.60),
        ("base", "gcn", "1", "8", 0.70),
        ("label-propagation", "none", "none", "7", 0.65),
        ("base", "sage", "1", "7", 0.60),
    ]
    rows = [
        Row(STUDY, "cora", method, {**shared, "backbone": net, "eps_x": x, "eps_a": a}, repeat, "accuracy", mean + d)
        for method, net, x, a, mean in points
        for repeat, d in enumerate((-0.01, 0.0, 0.01))
    ]
    names = ["item", "dataset", "method", "backbone", "eps_x", "eps_a", "metric", "reference_mean", "reference_sd"]
    figures = [
        ("table-3", "cora", "base", "gcn", "1", "7.0", "accuracy", 0.50, 0.01),
        ("table-3", "cora", "base", "gcn", "1", "8", "accuracy", 0.70, float("nan")),
    ]
    return beside(summary(rows), pd.DataFrame(figures, columns=names))


def test_a_matrix_has_budgets_across_and_methods_without_a_network_in_it() -> None:
    (matrix,) = published_matrices(compared(), CONTROLS)
    assert (matrix.name, matrix.columns) == ("matrix-cora-gcn", ("method", "eps_x", "7", "8"))
    cells = {row[0].text: [(cell.text, cell.detail, cell.mark) for cell in row[2:]] for row in matrix.rows}
    assert cells == {
        "base": [("60.0 ± 1.0", "50.0 ± 1.0; +10.0", "above"), ("70.0 ± 1.0", "70.0; +0.0", "untested")],
        "label-propagation": [("65.0 ± 1.0", "", ""), ("", "", "")],
    }
    assert {row[0].mark for row in matrix.rows} == {"control"}


def test_the_list_has_every_published_figure_once() -> None:
    rows = [[cell.plain for cell in row] for row in published_list(compared(), CONTROLS).rows]
    assert [row[:3] for row in rows] == [["cora", "base", f"backbone=gcn eps_a={eps} eps_x=1"] for eps in ("7", "8")]
    assert [row[3:] for row in rows] == [
        ["accuracy", "0.600 ± 0.010 (3)", "0.500 ± 0.010", "+10.0", "< 0.001", "table-3"],
        ["accuracy", "0.700 ± 0.010 (3)", "0.700", "+0.0", "", "table-3"],
    ]
