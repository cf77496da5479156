from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tasks.evaluation.node_embedding.embedding_changes import changes_beside_published, published_changes
from tasks.evaluation.node_embedding.embedding_tables import (
    TABLES,
    deepwalk_beside_published,
    largest_epsilon,
    modes_in_one_table,
    write_embedding_tables,
)
from tasks.evaluation.tables.reference import beside, read_reference
from tasks.evaluation.tables.rows import Row
from tasks.evaluation.tables.summary import summary

REFERENCE = read_reference(Path(__file__).resolve().parents[4] / "data" / "reference" / "fedwalk.csv")


def lines(mode: str, f1: float, recall: float | None = None, repeats: int = 1, **settings: str) -> list[Row]:
    """A line under both protocols; macro-F1 is half of micro-F1, the threshold's a tenth below."""
    method = mode if mode in ("deepwalk", "randomized-response") else "fedwalk"
    named = {"mode": mode, "walks": "80", "train_ratio": "0.5", **settings}
    found = []
    for scoring, below in (("top_k", 0.0), ("threshold", 0.1)):
        values = {"micro_f1": f1 - below, "macro_f1": (f1 - below) / 2}
        if recall is not None:
            values |= {"edge_recall": recall, "edge_base_rate": 0.006, "edge_degree_recall": 0.3}
        for repeat in range(repeats):
            found += [
                Row("node_embedding", "blogcatalog", method, named | {"scoring": scoring}, repeat, metric, value)
                for metric, value in values.items()
            ]
    return found


def compared(*rows: list[Row]) -> pd.DataFrame:
    figures = REFERENCE.rename(columns={"condition": "scoring"})
    return beside(summary([row for part in rows for row in part]), figures[figures["method"] == "deepwalk"])


def test_every_mode_is_one_line_beside_deepwalk_of_as_many_walks() -> None:
    table = modes_in_one_table(
        compared(
            lines("deepwalk", 0.41, repeats=3),
            lines("deepwalk", 0.35, walks="20"),
            lines("walk", 0.39, 0.99, eps_encoder="2", p="0.2", k="9"),
            lines("walk", 0.34, 0.97, eps_encoder="2", p="0.2", k="9", walks="20"),
            lines("release-once", 0.30, 0.9, eps_encoder="2", k="9", pad="true"),
        )
    )
    assert len(table) == 5
    found = table.set_index(["mode", "walks", "pad"])
    walk = found.loc[("walk", "80", "")]
    assert walk["micro_f1 top_k"] == pytest.approx(39)
    assert walk["macro_f1 top_k"] == pytest.approx(19.5)
    assert walk["micro_f1 threshold"] == pytest.approx(29)
    assert (walk["edges_given_away"], walk["blind_guess"], walk["degrees_alone"]) == (0.99, 0.006, 0.3)
    assert walk["beyond_degrees"] == pytest.approx(0.69)
    assert found.loc[("walk", "20", ""), "below_deepwalk"] == pytest.approx(1)
    assert found.loc[("release-once", "80", "true"), "below_deepwalk"] == pytest.approx(11)
    assert found.loc[("deepwalk", "80", ""), "repeats"] == 3


def test_the_largest_budget_that_gives_little_away_beyond_degrees_is_named_or_none() -> None:
    table = largest_epsilon(
        compared(
            lines("deepwalk", 0.41),
            *(
                lines("walk", f1, recall, eps_encoder=eps, p="0.2", k="9")
                for eps, f1, recall in (("0.25", 0.2, 0.01), ("0.5", 0.25, 0.39), ("1", 0.3, 0.96), ("10", 0.4, 1.0))
            ),
            *(
                lines("release-once", 0.3, recall, eps_encoder=eps, k="9", pad="true")
                for eps, recall in (("0.5", 0.41), ("2", 0.9))
            ),
            lines("walk", 0.3, 0.01, eps_encoder="0.5", p="0.2", k="9", train_ratio="0.9"),
        )
    ).set_index("mode")
    assert list(table.index) == ["walk", "release-once (padded)"]
    walk, lists = table.loc["walk"], table.loc["release-once (padded)"]
    assert (walk["eps_encoder"], walk["edges_given_away"], walk["measured"]) == ("0.5", 0.39, "0.25 0.5 1 10")
    assert (walk["degrees_alone"], walk["beyond_degrees"]) == (0.3, pytest.approx(0.09))
    assert walk["micro_f1 top_k"] == pytest.approx(25)
    assert walk["below_deepwalk"] == pytest.approx(16)
    assert (lists["eps_encoder"], lists["measured"]) == ("", "0.5 2")
    assert pd.isna(lists["micro_f1 top_k"])


def test_no_budget_is_named_where_the_baseline_was_not_measured() -> None:
    found = lines("walk", 0.2, 0.01, eps_encoder="0.25", p="0.2", k="9")
    table = largest_epsilon(compared([row for row in found if row.metric != "edge_degree_recall"]))
    assert table["eps_encoder"].tolist() == [""]


def test_deepwalk_stands_beside_its_published_table_with_all_its_walks() -> None:
    table = deepwalk_beside_published(
        compared(lines("deepwalk", 0.41, repeats=3), lines("deepwalk", 0.3, walks="20"), lines("walk", 0.4))
    )
    micro = table.set_index("metric").loc["micro_f1"]
    assert len(table) == 2
    assert (micro["walks"], micro["repeats"], micro["ours"], micro["published"]) == ("80", 3, 41, 41.51)
    assert micro["difference_points"] == pytest.approx(-0.51)


def test_changes_are_relative_and_between_the_published_points() -> None:
    published = published_changes(REFERENCE)
    assert {(change.item, change.setting, change.start, change.end) for change in published} == {
        ("figure-6", "k", "3", "9"),
        ("figure-6", "k", "5", "11"),
        ("figure-8", "p", "0", "0.4"),
    }
    rows = [
        lines("walk", 0.40, eps_encoder="2", p="0", k="9"),
        lines("walk", 0.38, eps_encoder="2", p="0.4", k="9"),
        lines("walk", 0.36, eps_encoder="2", p="0.2", k="3", walks="20"),
        lines("walk", 0.45, eps_encoder="2", p="0.2", k="9", walks="20"),
        lines("walk", 0.45, eps_encoder="2", p="0.2", k="7", walks="20"),
    ]
    table = changes_beside_published(compared(*rows), published).set_index("item")
    assert len(table) == 2
    assert table.loc["figure-8", "change_percent"] == pytest.approx(-5)
    assert table.loc["figure-8", "published_percent"] == pytest.approx(-6.86)
    assert (table.loc["figure-6", "walks"], table.loc["figure-6", "train_ratio"]) == ("20", "0.5")
    assert table.loc["figure-6", "change_percent"] == pytest.approx(25)
    assert table.loc["figure-6", "published_percent"] == pytest.approx(13.73)


def test_tables_without_a_line_have_their_header(tmp_path: Path) -> None:
    other = [Row("node_classification", "cora", "base", {"eps_a": "7"}, 0, "accuracy", 0.5)]
    write_embedding_tables(compared(other), tmp_path, published_changes(REFERENCE))
    for name in TABLES:
        assert len((tmp_path / name).read_text().splitlines()) == 1
    deepwalk = lines("deepwalk", 0.4, train_ratio="0.3")
    write_embedding_tables(compared(deepwalk), tmp_path, published_changes(REFERENCE))
    assert len((tmp_path / "embedding-modes.csv").read_text().splitlines()) == 2
