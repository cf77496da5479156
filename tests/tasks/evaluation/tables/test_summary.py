import math
import statistics

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.errors import UserError
from tasks.evaluation.tables.rows import Row
from tasks.evaluation.tables.summary import cell, console_table, setting_names, summary, write_csv

FRACTION = st.floats(0, 1)
HEADLINES = ("accuracy", "macro_f1")


def row(value, repeat=0, metric="accuracy", method="base", dataset="cora", **settings):
    return Row("node_classification", dataset, method, settings, repeat, metric, value)


@given(values=st.lists(FRACTION, min_size=2, max_size=6))
def test_mean_and_sample_deviation(values):
    frame = summary([row(value, repeat, eps_a="7") for repeat, value in enumerate(values)])
    assert frame["mean"].item() == pytest.approx(statistics.mean(values))
    assert frame["sd"].item() == pytest.approx(statistics.stdev(values), abs=1e-9)
    assert frame["repeats"].item() == len(values)


def test_methods_with_different_settings_share_a_summary():
    frame = summary(
        [row(0.5, eps_a="7", eps_x="1"), row(0.3, method="constant", eps_a="7"), row(0.6, eps_a="10", eps_x="1")]
    )
    assert setting_names(frame) == ["eps_a", "eps_x"]
    assert frame[["method", "eps_a", "eps_x"]].to_numpy().tolist() == [
        ["base", "7", "1"],
        ["base", "10", "1"],
        ["constant", "7", ""],
    ]
    assert frame["sd"].isna().all()


def test_the_same_repeat_twice_is_refused():
    with pytest.raises(UserError, match="node_classification, cora, base, 7, accuracy, 0"):
        summary([row(0.5, eps_a="7"), row(0.6, eps_a="7")])


def test_cells():
    assert cell(0.8341, 0.00812, 5) == "0.834 ± 0.008 (5)"
    assert cell(0.8341, math.nan, 1) == "0.834 (1)"
    assert cell(6671.2, 77.04, 5) == "6671.2 ± 77.0 (5)"


def test_console_table_has_a_line_a_point_and_a_column_a_metric():
    rows = [
        row(0.5 + repeat / 100, repeat, metric, eps_a=eps)
        for eps in ("10", "7")
        for repeat in (0, 1)
        for metric in ("accuracy", "macro_f1")
    ]
    lines = console_table(summary([*rows, row(0.1, dataset="digits", method="constant")]), HEADLINES).splitlines()
    assert lines[0].split() == ["dataset", "method", "eps_a", "accuracy", "macro_f1"]
    assert [line.split()[:3] for line in lines[2:4]] == [["cora", "base", "7"], ["cora", "base", "10"]]
    assert lines[2].split()[3:] == ["0.505", "±", "0.007", "(2)"] * 2
    assert lines[4].split() == ["digits", "constant", "0.100", "(1)"]


def test_csv_keeps_texts_and_leaves_missing_numbers_empty(tmp_path):
    write_csv(tmp_path / "t.csv", summary([row(0.5, eps_a="7")]))
    assert (tmp_path / "t.csv").read_text().splitlines()[1] == "node_classification,cora,base,7,accuracy,0.5,,1"
    assert pd.read_csv(tmp_path / "t.csv")["mean"].item() == 0.5


def test_the_console_leaves_out_a_setting_that_is_as_usual_everywhere():
    usual = [row(0.5, eps_a="7", mode="directed", label_rate="0.5")]
    assert console_table(summary(usual), HEADLINES).splitlines()[0].split() == [
        "dataset",
        "method",
        "eps_a",
        "accuracy",
    ]
    mixed = console_table(summary([*usual, row(0.6, eps_a="7", mode="pair", label_rate="0.5")]), HEADLINES).splitlines()
    assert mixed[0].split() == ["dataset", "method", "eps_a", "mode", "accuracy"]
    assert len(mixed) == 2 + 2
