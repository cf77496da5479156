from pathlib import Path

import pandas as pd
import pytest

from tasks.errors import UserError
from tasks.evaluation.tables.reference import beside, read_reference
from tasks.evaluation.tables.rows import Row
from tasks.evaluation.tables.summary import summary

PUBLISHED = Path(__file__).parents[4] / "data" / "reference"


def rows(*values, dataset="cora", method="base", metric="accuracy", **settings):
    return [Row("node_classification", dataset, method, settings, i, metric, value) for i, value in enumerate(values)]


@pytest.mark.parametrize("name", [path.name for path in sorted(PUBLISHED.glob("*.csv"))])
def test_every_published_file_reads_with_all_its_lines(name):
    frame = read_reference(PUBLISHED / name)
    assert len(frame) == len(pd.read_csv(PUBLISHED / name))
    assert frame["reference_mean"].notna().all()
    assert frame[frame["metric"] == "accuracy"]["reference_mean"].between(0, 1).all()


def test_budgets_join_as_numbers_and_units_agree():
    ours = summary(rows(0.50, 0.52, backbone="sage", eps_x="1", eps_a="7"))
    reference = read_reference(PUBLISHED / "solitude.csv")
    line = beside(ours, reference[reference["item"] == "table-3"]).squeeze()
    assert (line["reference_mean"], line["reference_sd"]) == pytest.approx((0.509, 0.038))
    assert line["difference_points"] == pytest.approx(0.1)
    assert (line["mean"], line["sd"]) == pytest.approx((0.51, 0.02 / 2**0.5))
    assert (line["eps_x"], line["eps_a"], line["item"]) == ("1", "7", "table-3")


def test_controls_and_unpublished_points_stay_without_a_reference():
    ours = summary(
        [
            *rows(0.8, method="mutual", backbone="sage", eps_x="1", eps_a="7"),
            *rows(0.9, backbone="sage", eps_x="inf", eps_a="inf"),
            *rows(6671.0, backbone="sage", eps_x="1", eps_a="7", metric="noise_edges"),
        ]
    )
    joined = beside(ours, read_reference(PUBLISHED / "solitude.csv"))
    assert len(joined) == 3
    assert joined["reference_mean"].isna().all()
    assert (joined["item"] == "").all()


def test_both_citeseers_stand_beside_the_published_one():
    settings = {"backbone": "gcn", "eps_x": "1", "eps_a": "8"}
    ours = summary([*rows(0.5, dataset="citeseer", **settings), *rows(0.5, dataset="citeseer-lcc", **settings)])
    reference = read_reference(PUBLISHED / "solitude.csv")
    joined = beside(ours, reference[reference["item"] == "table-3"])
    assert list(joined["dataset"]) == ["citeseer", "citeseer-lcc"]
    assert joined["reference_mean"].nunique() == 1


def test_a_setting_that_only_the_reference_has_prevents_a_match():
    ours = summary(rows(0.5, method="base", backbone="sage", eps_a="7"))
    assert beside(ours, read_reference(PUBLISHED / "solitude.csv"))["reference_mean"].isna().all()


def test_a_setting_that_only_ours_has_does_not():
    ours = summary(rows(0.7, dataset="mutag", method="svm-gw", input="gcn-H", eps="1/n"))
    assert beside(ours, read_reference(PUBLISHED / "gromov.csv"))["reference_mean"].item() == pytest.approx(0.803)


def test_a_missing_or_foreign_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"none\.csv"):
        read_reference(tmp_path / "none.csv")
    (tmp_path / "odd.csv").write_text("source,metric,mean\np,accuracy,1\n")
    with pytest.raises(UserError, match=r"odd\.csv.* dataset, item, method "):
        read_reference(tmp_path / "odd.csv")
