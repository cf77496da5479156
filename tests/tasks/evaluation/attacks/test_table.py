from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from tasks.evaluation.attacks.figure import draw_attacks
from tasks.evaluation.attacks.table import attack_table
from tasks.evaluation.tables.rows import Row
from tasks.evaluation.tables.summary import summary


def nodes() -> list[Row]:
    rows = []
    for repeat in (0, 1):
        for eps_a in ("7", "inf", "10"):
            given = [
                ("reports", "edges", "both lists", "auc", 0.75),
                ("base", "links", "correlation", "auc", 0.6),
                ("base", "links", "cosine", "auc", 0.125),
                ("base", "none", "predictions", "accuracy", 0.5 + repeat / 10),
            ]
            for method, attack, reading, metric, value in given:
                settings = {"attack": attack, "reading": reading, "eps_a": eps_a, "eps_x": "1"}
                rows.append(Row("attacks", "cora", method, settings, repeat, metric, value))
        settings = {"attack": "control", "reading": "same class"}
        rows.append(Row("attacks", "cora", "classes", settings, repeat, "auc", 0.8))
    return rows


def graphs() -> list[Row]:
    return [
        Row("attacks", "mutag", "svm", {"attack": "membership", "reading": reading, "eps": eps}, 0, "auc", 0.5)
        for reading in ("kernel", "likelihood")
        for eps in ("1/n", "2", "inf")
    ]


def test_a_line_for_every_budget_then_the_other_attacks() -> None:
    head, *lines, control = attack_table(summary(nodes())).splitlines()
    assert head.split()[0] == "eps_a"
    assert [line.split()[0] for line in lines] == ["7", "10", "inf"]
    assert lines[0].split() == ["7", "0.750±0.000", "0.600±0.000", "0.550±0.071"]
    assert control == "cora classes control: same class auc 0.800±0.000"


def test_a_set_of_graphs_has_lines_alone() -> None:
    lines = [set(line.split()) for line in attack_table(summary(graphs())).splitlines()]
    budgets = [(reading, f"eps={eps}") for reading in ("kernel", "likelihood") for eps in ("1/n", "2", "inf")]
    assert len(lines) == len(budgets)
    assert all(sum({*budget, "0.500"} <= line for line in lines) == 1 for budget in budgets)


@pytest.mark.parametrize(("rows", "wide"), [(nodes(), True), (graphs(), False)], ids=["nodes", "graphs"])
def test_equal_tables_give_equal_pictures(tmp_path: Path, rows: list[Row], wide: bool) -> None:
    first, second = tmp_path / "deep" / "first.png", tmp_path / "second.png"
    for path in (first, second):
        draw_attacks(summary(rows), path)
    assert first.read_bytes() == second.read_bytes()
    width, height = Image.open(first).size
    assert (width > 2 * height) == wide
