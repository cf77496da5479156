from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tasks.evaluation.node_classification.solitude_figures import draw_solitude
from tasks.evaluation.node_classification.solitude_tables import (
    TABLES,
    edges_told_apart,
    equal_relation_budget,
    table_three,
    verdicts,
    write_solitude_tables,
)
from tasks.evaluation.tables.rows import Row
from tasks.evaluation.tables.summary import summary

VALUES = (0.6, 0.7)


def rows(method: str, eps_a: str, metric: str = "accuracy", values: tuple[float, ...] = VALUES, **settings: str):
    point = {"backbone": "gcn", "eps_x": "1", "eps_a": eps_a, "mode": "directed", "label_rate": "0.5"} | settings
    return [Row("node_classification", "cora", method, point, *at) for at in _numbered(metric, values)]


def _numbered(metric: str, values: tuple[float, ...]):
    return [(repeat, metric, value) for repeat, value in enumerate(values)]


def compared(found: list[Row], published: dict[tuple[str, str], tuple[float, float]]) -> pd.DataFrame:
    """A summary beside figures for (method, eps_a) at the full label rate."""
    frame = summary(found)
    keys = list(zip(frame["method"], frame["eps_a"], frame["label_rate"], frame["metric"], strict=True))
    figures = [published.get(key[:2]) if key[2:] == ("0.5", "accuracy") else None for key in keys]
    frame["item"] = ["table-3" if figure else "" for figure in figures]
    frame["reference_mean"] = [figure[0] if figure else float("nan") for figure in figures]
    frame["reference_sd"] = [figure[1] if figure else float("nan") for figure in figures]
    return frame


def test_table_three_has_a_column_a_budget_and_the_published_figure_in_brackets() -> None:
    found = rows("base", "7") + rows("base", "10") + rows("mutual", "7") + rows("base", "7", mode="pair")
    table = table_three(compared(found, {("base", "7"): (0.608, 0.02)}))
    assert list(table.columns) == ["dataset", "backbone", "method", "eps_x", "7", "10"]
    assert table.to_numpy().tolist() == [
        ["cora", "gcn", "base", "1", "65.0 ± 7.1 (60.8 ± 2.0)", "65.0 ± 7.1"],
        ["cora", "gcn", "mutual", "1", "65.0 ± 7.1", ""],
    ]


@pytest.mark.parametrize(("figure", "met"), [(0.66, True), (0.671, False)])
def test_a_method_of_the_paper_is_held_against_its_own_mean_less_a_deviation(figure: float, met: bool) -> None:
    found = verdicts(compared(rows("base", "7"), {("base", "7"): (figure, 0.02)}))
    (line,) = found.to_dict("records")
    assert (line["against"], line["met"]) == ("base", met)
    assert line["difference"] == pytest.approx(100 * (0.65 - figure))
    assert line["margin"] == pytest.approx(100 * (0.65 - figure + 0.02))


@pytest.mark.parametrize(("figure", "met"), [(0.64, True), (0.66, False)])
def test_any_other_method_is_held_against_the_mean_of_the_papers_solitude(figure: float, met: bool) -> None:
    found = rows("mutual", "7") + rows("solitude", "7") + rows("mutual", "9")
    lines = verdicts(compared(found, {("solitude", "7"): (figure, 0.05)}))
    (line,) = lines[lines["method"] == "mutual"].to_dict("records")
    assert (line["against"], line["eps_a"], line["met"]) == ("solitude", "7", met)
    assert line["margin"] == line["difference"] == pytest.approx(100 * (0.65 - figure))


def test_two_reports_at_half_the_budget_stand_beside_one(tmp_path: Path) -> None:
    found = rows("mutual", "3.5") + rows("base", "7", mode="pair") + rows("base", "8", mode="pair") + rows("base", "7")
    table = equal_relation_budget(compared(found, {}))
    assert table[["relation_epsilon", "mode", "eps_a", "method"]].to_numpy().tolist() == [
        ["7", "directed", "3.5", "mutual"],
        ["7", "pair", "7", "base"],
    ]


def test_how_edges_are_told_apart_stands_beside_the_accuracy() -> None:
    found = [
        row
        for metric, values in {"edge_auc": (0.7, 0.8), "true_edges_kept": (0.9, 1.0), "accuracy": VALUES}.items()
        for row in rows("solitude", "7", metric, values)
    ]
    (line,) = edges_told_apart(compared(found + rows("base", "7"), {})).to_dict("records")
    assert line["method"] == "solitude"
    assert (line["edge_auc"], line["true_edges_kept"], line["accuracy"]) == pytest.approx((0.75, 0.95, 0.65))
    assert pd.isna(line["false_edges_kept"])


def test_files_and_figures_are_those_of_the_table_and_equal_for_equal_tables(tmp_path: Path) -> None:
    found = [row for eps_a in ("7", "7.5", "8") for method in ("base", "solitude") for row in rows(method, eps_a)]
    found += [row for rate in ("0.05", "0.2") for row in rows("solitude", "7.5", label_rate=rate)]
    frame = compared(found, {("solitude", "7.5"): (0.5, 0.01)})
    written = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        write_solitude_tables(frame, folder)
        assert [path.name for path in draw_solitude(frame, folder)] == ["figure-4.png", "figure-5.png"]
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert set(written[0]) == {*TABLES, "figure-4.png", "figure-5.png"}
    assert written[0] == written[1]
    moved = compared(rows("base", "7", values=(0.1, 0.2)) + found[2:], {("solitude", "7.5"): (0.5, 0.01)})
    draw_solitude(moved, tmp_path / "two")
    assert (tmp_path / "two" / "figure-4.png").read_bytes() != written[0]["figure-4.png"]


def test_another_studys_summary_has_tables_without_lines_and_no_figure(tmp_path: Path) -> None:
    frame = summary([Row("node_embedding", "ppi", "walk", {"p": "0"}, 0, "micro_f1", 0.2)])
    frame = frame.assign(item="", reference_mean=float("nan"), reference_sd=float("nan"))
    write_solitude_tables(frame, tmp_path)
    assert draw_solitude(frame, tmp_path) == []
    assert all(len((tmp_path / name).read_text().splitlines()) == 1 for name in TABLES)
