import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.errors import UserError
from tasks.evaluation.tables.rows import Row, read_rows, setting_order, sorted_rows, write_rows

WORDS = st.text("abcxyz-", min_size=1, max_size=6)
ROWS = st.builds(
    Row,
    study=WORDS,
    dataset=WORDS,
    method=WORDS,
    settings=st.dictionaries(WORDS, st.sampled_from(["7", "7.3", "10", "inf", "gcn"]), max_size=3),
    repeat=st.integers(0, 5),
    metric=WORDS,
    value=st.floats(allow_nan=False, allow_infinity=False),
)


@given(rows=st.lists(ROWS, max_size=6))
def test_rows_come_back_sorted_and_equal(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("rows") / "rows.json"
    write_rows(path, rows)
    assert read_rows(path) == sorted_rows(rows)


@given(rows=st.lists(ROWS, max_size=6, unique_by=lambda row: (row.dataset, row.metric)), data=st.data())
def test_bytes_do_not_depend_on_the_order_of_arrival(tmp_path_factory, rows, data):
    folder = tmp_path_factory.mktemp("rows")
    write_rows(folder / "a.json", rows)
    write_rows(folder / "b.json", data.draw(st.permutations(rows)))
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()
    assert {path.name for path in folder.iterdir()} == {"a.json", "b.json"}


def test_keys_are_in_canonical_order(tmp_path):
    write_rows(
        tmp_path / "r.json", [Row("s", "d", "m", {"eps_x": "1", "backbone": "gcn", "eps_a": "7"}, 0, "accuracy", 0.5)]
    )
    (row,) = json.loads((tmp_path / "r.json").read_text())
    assert list(row) == ["study", "dataset", "method", "settings", "repeat", "metric", "value"]
    assert list(row["settings"]) == ["backbone", "eps_a", "eps_x"]


def test_budgets_sort_by_size():
    assert sorted(["inf", "10", "7.3", "7", "gcn"], key=setting_order) == ["7", "7.3", "10", "inf", "gcn"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, True])
def test_a_value_that_is_no_number_is_named(value):
    with pytest.raises(UserError, match="cora base accuracy"):
        Row("s", "cora", "base", {}, 0, "accuracy", value)


def test_a_setting_that_is_no_text_is_named():
    with pytest.raises(UserError, match=r"cora base.*eps_a"):
        Row("s", "cora", "base", {"eps_a": 7}, 0, "accuracy", 0.5)


def test_unreadable_files_give_one_line(tmp_path):
    with pytest.raises(UserError, match=r"none\.json"):
        read_rows(tmp_path / "none.json")
    for content in ("{", "{}", "[1]", '[{"study": "s"}]'):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(UserError, match=r"bad\.json"):
            read_rows(tmp_path / "bad.json")


def test_an_unwritable_place_gives_one_line_and_leaves_nothing(tmp_path):
    (tmp_path / "rows.json").mkdir()
    with pytest.raises(UserError, match=r"rows\.json"):
        write_rows(tmp_path / "rows.json", [])
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"file/rows\.json"):
        write_rows(tmp_path / "file" / "rows.json", [])
    assert {path.name for path in tmp_path.iterdir()} == {"rows.json", "file"}
