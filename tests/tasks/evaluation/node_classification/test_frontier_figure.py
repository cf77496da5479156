from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.evaluation.node_classification.frontier_figure import draw_frontier, frontier
from tasks.evaluation.tables.rows import Row
from tasks.evaluation.tables.summary import summary

STUDY = "node_classification"
FULL = {"mode": "directed", "label_rate": "0.5"}
VALUES = st.one_of(st.integers(0, 5).map(float), st.just(float("nan")))


@given(arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=VALUES))
def test_a_cell_is_framed_when_no_cheaper_one_is_as_good(means: np.ndarray) -> None:
    marked = frontier(means)
    for (i, j), value in np.ndenumerate(means):
        cheaper = means[: i + 1, : j + 1].copy()
        cheaper[i, j] = np.nan
        others = cheaper[cheaper >= value]
        assert marked[i, j] == (not np.isnan(value) and not len(others))


def rows(dataset: str = "cora") -> list[Row]:
    points = [
        *(("base", "gcn", eps_x, eps_a) for eps_x in ("0.5", "1") for eps_a in ("7", "7.5", "8")),
        *(("mutual", "gcn", "1", eps_a) for eps_a in ("7", "8")),
        *(("label-propagation", "none", "none", eps_a) for eps_a in ("7", "8")),
        ("base", "sage", "1", "7"),
        ("non-private", "gcn", "inf", "inf"),
    ]
    return [
        Row(STUDY, dataset, method, {**FULL, "backbone": backbone, "eps_x": x, "eps_a": a}, 0, "accuracy", 0.5 + i / 40)
        for i, (method, backbone, x, a) in enumerate(points)
    ]


def test_there_is_a_figure_for_each_data_set_and_backbone_and_equal_tables_give_equal_bytes(tmp_path: Path) -> None:
    table = summary([*rows(), *rows("digits")])
    first, second = (draw_frontier(table, tmp_path / name, tmp_path / name / "v") for name in ("one", "two"))
    assert [path.name for path in first] == [
        f"frontier-{dataset}-{backbone}.png" for dataset in ("cora", "digits") for backbone in ("gcn", "sage")
    ]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
        for form in ("pdf", "svg"):
            assert (one.parent / "v" / f"{one.stem}.{form}").read_bytes() == (
                two.parent / "v" / f"{two.stem}.{form}"
            ).read_bytes()


def test_one_pair_of_budgets_or_another_study_draws_nothing(tmp_path: Path) -> None:
    alone = [row for row in rows() if row.settings["backbone"] == "sage"]
    other = [Row("node_embedding", "ppi", "deepwalk", {"mode": "deepwalk"}, 0, "micro_f1", 0.2)]
    assert draw_frontier(summary(alone), tmp_path) == []
    assert draw_frontier(summary(other), tmp_path) == []
    assert list(tmp_path.iterdir()) == []
