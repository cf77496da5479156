from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tasks.errors import UserError
from tasks.parameters.loading import load_parameters
from tasks.parameters.profiles import PROFILES
from tests.tasks.parameters.conftest import SHIPPED, TREE, changed, load, refusal


@pytest.mark.parametrize("profile", PROFILES)
def test_the_shipped_file_is_valid_and_says_all_that_dvc_reads(profile: str) -> None:
    parameters = load_parameters(SHIPPED, profile)
    section = getattr(parameters, profile)
    assert section.repeats >= 3
    assert section.node_classification.datasets


@pytest.mark.parametrize("written", ["7", "7.0", "'7'", '"07.00"', "+7", "7e0"])
def test_budgets_are_canonical_whatever_yaml_made_of_them(tmp_path: Path, written: str) -> None:
    text = yaml.safe_dump(TREE).replace("- 7.0\n", f"- {written}\n", 1)
    assert load(tmp_path, text).demo.node_classification.eps_a == ["7", "inf"]


@pytest.mark.parametrize("written", ["[7]", "[7.0]", '["7"]', '[" 7.00"]'])
def test_an_override_may_spell_a_budget_in_any_way(tmp_path: Path, written: str) -> None:
    parameters = load(tmp_path, TREE, f"node_classification.eps_a={written}")
    assert parameters.demo.node_classification.eps_a == ["7"]
    assert parameters.paper.node_classification.eps_a == ["7", "inf"]


def test_numbers_that_pyyaml_reads_as_strings_are_numbers(tmp_path: Path) -> None:
    tree = changed("demo.node_classification.search", {"weight_decay": ["1e-3"], "learning_rate": [1]})
    search = load(tmp_path, tree).demo.node_classification.search
    assert (search.weight_decay, search.learning_rate) == ([0.001], [1.0])


BAD: list[tuple[str, object, str]] = [
    ("demo.node_clasification", {}, "known key"),
    ("demo.node_classification.eps", [1], "known key"),
    ("demo.node_classification.search.lr", [1], "known key"),
    ("extra", 1, "known key"),
    ("demo.seed", -1, "0 or more"),
    ("demo.seed", 2**63, "less than"),
    ("demo.seed", "first", "whole number"),
    ("demo.seed", 0.5, "whole number"),
    ("demo.seed", True, "true or false"),
    ("demo.seed", math.nan, "finite"),
    ("demo.repeats", 0, "1 or more"),
    ("demo.repeats", None, "whole number"),
    ("demo.repeats", True, "true or false"),
    ("demo.workers", 0, "1 or more"),
    ("demo.runner", "slurm", "'threads', 'processes' or 'dask'"),
    ("demo.device", "tpu", "'auto', 'cpu' or 'cuda'"),
    ("demo.dask_address", 7, "text"),
    ("demo.node_classification", None, "section"),
    ("demo.node_classification.datasets", [], "entries"),
    ("demo.node_classification.datasets", "digits", "list"),
    ("demo.node_classification.datasets", ["digits", "digits"], "twice"),
    ("demo.node_classification.datasets", {"0": None}, "list"),
    ("demo.node_classification.eps_a", 7, "list"),
    ("demo.node_classification.eps_a", [0], "inf"),
    ("demo.node_classification.eps_a", [-7], "negative"),
    ("demo.node_classification.eps_a", ["-0.5"], "negative"),
    ("demo.node_classification.eps_a", [math.nan], "NaN"),
    ("demo.node_classification.eps_a", ["1/n"], "budget"),
    ("demo.node_classification.eps_a", ["seven"], "budget"),
    ("demo.node_classification.eps_a", [None], "budget"),
    ("demo.node_classification.eps_a", [True], "budget"),
    ("demo.node_classification.eps_a", [[7]], "budget"),
    ("demo.node_classification.eps_a", [7, "7.0"], "twice"),
    ("demo.node_classification.eps_a", ["1e-300"], "1e-06 to 1e+06"),
    ("demo.node_classification.eps_a", [10**300], "1e-06 to 1e+06"),
    ("demo.node_classification.budget", 0, "inf"),
    ("demo.node_classification.mode", "both", "'directed'"),
    ("demo.node_classification.methods", ["magic"], "magic"),
    ("demo.node_classification.backbones", ["gat"], "'gcn'"),
    ("demo.node_classification.search.learning_rate", [0], "greater than 0"),
    ("demo.node_classification.search.learning_rate", [math.inf], "1 or less"),
    ("demo.node_classification.search.learning_rate", [True], "true or false"),
    ("demo.node_classification.search.dropout", [1], "less than 1"),
    ("demo.node_classification.search.weight_decay", [-0.1], "0 or more"),
    ("demo.node_classification.search.weight_decay", [], "entries"),
    ("demo.node_classification.search.epochs", 501, "500"),
    ("demo.node_classification.memory_limit_mb", 0, "1 or more"),
    ("datasets", None, "section"),
    ("datasets.mine", {}, "missing"),
    ("datasets.mine", {"edges": "a.csv", "secret": True}, "known key"),
    ("datasets.mine", {"edges": "a.csv", "private": "perhaps"}, "true or false"),
    ("datasets.mine", {"edges": "a.csv", "nodes": 0}, "1 or more"),
    ("datasets.mine", {"edges": "a.csv", "feature_bounds": [0, math.inf]}, "finite"),
    ("datasets.mine", {"edges": "a.csv", "feature_bounds": [1, 0]}, "lower bound"),
    ("datasets.mine", {"edges": "a.csv", "feature_bounds": [0]}, "missing"),
]
FOLDER_NAMES = ["../mine", "a/b", "", ".hidden", "a b", "-x"]


@pytest.mark.parametrize(("key", "value", "rule"), BAD, ids=lambda x: str(x)[:40])
def test_a_bad_value_is_one_line_that_names_the_key(tmp_path: Path, key: str, value: object, rule: str) -> None:
    text = refusal(tmp_path, changed(key, value))
    assert key in text
    assert rule in text


@pytest.mark.parametrize(
    ("key", "value", "rule"), [x for x in BAD if x[0].startswith("demo.")], ids=lambda x: str(x)[:40]
)
def test_an_override_is_checked_like_the_file(tmp_path: Path, key: str, value: object, rule: str) -> None:
    text = refusal(tmp_path, TREE, f"{key.removeprefix('demo.')}={json.dumps(value)}")
    assert key in text


@pytest.mark.parametrize("name", FOLDER_NAMES)
def test_a_data_sets_name_is_fit_for_a_folder(tmp_path: Path, name: str) -> None:
    assert "datasets" in refusal(tmp_path, {**TREE, "datasets": {name: {"edges": "a.csv"}}})


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("repeats", "'='"),
        ("node_classification.eps_a=[inf]", "JSON"),
        ("node_classification.eps_a=[1e400]", "JSON"),
        ("repeats=" + "[" * 100_000, "JSON"),
        ("repeats=" + "9" * 5_000, "JSON"),
        ("repeats.of.what=1", "demo.repeats"),
        ("node_classification.eps_a.0=1", "demo.node_classification.eps_a "),
        ("datasets.friends.private=false", "profile"),
        ("paper.repeats=1", "profile"),
        ("=1", "known key"),
        ("node_classification.=1", "known key"),
    ],
)
def test_an_unusable_override_is_one_line(tmp_path: Path, override: str, says: str) -> None:
    text = refusal(tmp_path, changed("demo.repeats", 1), override)
    assert says in text
    assert len(text) < 300


def test_later_overrides_win_and_values_may_hold_an_equals_sign(tmp_path: Path) -> None:
    parameters = load(tmp_path, TREE, "repeats=2", 'dask_address="tcp://x?a=b"', "repeats=4", "workers=null")
    assert (parameters.demo.repeats, parameters.demo.dask_address, parameters.demo.workers) == (4, "tcp://x?a=b", None)
    assert load(tmp_path, TREE, "repeats=2", profile="paper").paper.repeats == 2


@pytest.mark.parametrize("profile", ["test", "", "datasets", "demo.node_classification"])
def test_an_unknown_profile_is_one_line(tmp_path: Path, profile: str) -> None:
    assert ", ".join(PROFILES) in refusal(tmp_path, TREE, profile=profile)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "7", "demo: [", "demo: {a: 1", "\tdemo: 1", "? {}\n: 1", "demo: !!python/object:os.system {}",
     "demo: 2020-13-45", "demo: " + "9" * 5000, "a: &x [*x]", "demo: null\npaper: null", "\x00", "[" * 400],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_a_file_that_is_no_parameters_is_one_line(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text).startswith(("params.yaml", "profile 'demo'"))
    refusal(tmp_path, text, "repeats=1")


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").mkdir()
    for path in (tmp_path / "params.yaml", tmp_path / "missing.yaml"):
        with pytest.raises(UserError, match=path.name):
            load_parameters(path)
    (tmp_path / "latin.yaml").write_bytes(b"demo: \xff\xfe")
    with pytest.raises(UserError, match=r"latin\.yaml"):
        load_parameters(tmp_path / "latin.yaml")


def test_a_mistake_in_the_yaml_is_placed(tmp_path: Path) -> None:
    assert re.match(r"params\.yaml .*line 2, column 8\b", refusal(tmp_path, "paper: {}\ndemo: ["))


def test_a_changed_value_is_not_blamed_on_the_file_alone(tmp_path: Path) -> None:
    in_file, for_this_run = refusal(tmp_path, changed("demo.repeats", 0)), refusal(tmp_path, TREE, "repeats=0")
    assert "demo.repeats" in in_file
    assert "demo.repeats" in for_this_run
    assert in_file != for_this_run


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=3),
    max_leaves=6,
)
KEYS = sorted({key for key, _, _ in BAD})


@given(key=st.sampled_from(KEYS) | st.text(max_size=6), value=values)
@example(key="demo.seed", value=16**5000)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_no_value_is_more_than_a_users_mistake(tmp_path: Path, key: str, value: object) -> None:
    try:
        text = yaml.safe_dump(changed(key, value), allow_unicode=True)
    except ValueError:
        text = f"demo: {{seed: {hex(16**5000)}}}\npaper: {{}}"
    try:
        load(tmp_path, text)
    except UserError as mistake:
        assert len(str(mistake).splitlines()) == 1


@given(st.text() | st.builds("{}={}".format, st.sampled_from([x.removeprefix("demo.") for x in KEYS]), values.map(str)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
def test_no_override_is_more_than_a_users_mistake(tmp_path: Path, override: str) -> None:
    try:
        load(tmp_path, TREE, override)
    except UserError as mistake:
        assert len(str(mistake).splitlines()) == 1


@pytest.mark.parametrize("key", sorted({key for key, _, _ in BAD if key.count(".") < 3}))
@pytest.mark.parametrize("value", [{"x": {}}, [[]], "x", 1.5, True, None], ids=repr)
def test_no_message_is_in_the_librarys_words(tmp_path: Path, key: str, value: object) -> None:
    foreign = ("Input", "instance", "valid ", "validation", "dictionary")
    try:
        load(tmp_path, changed(key, value))
    except UserError as mistake:
        assert not [word for word in foreign if word in str(mistake)]


def test_a_key_given_twice_is_one_line_that_names_it(tmp_path: Path) -> None:
    text = yaml.safe_dump(TREE) + "datasets: {}\n"
    assert "datasets" in refusal(tmp_path, text)


PARTS = {"node_classification": {"eps_a": [8]}, "node_embedding": {"walks": [20]}}


@pytest.mark.parametrize(
    ("study", "axis"),
    [("node_classification", "eps_x=[1]"), ("node_classification", 'mode="pair"'), ("node_embedding", "walks=[5]")],
)
def test_a_named_axis_leaves_the_parts_of_its_study_out_and_says_so_once(tmp_path: Path, study: str, axis: str) -> None:
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(_with_parts()))
    said: list[str] = []
    found = load_parameters(tmp_path / "params.yaml", "demo", [f"{study}.{axis}", "repeats=1"], said.append)
    for name in PARTS:
        assert len(getattr(found.demo, name).parts) == (0 if name == study else 1)
    (line,) = said
    assert f"{study}.parts" in line


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["repeats=1"],
        ["node_classification.search.epochs=5"],
        ["node_classification.eps_a=[7]", 'node_classification.parts=[{"eps_a": [8]}]'],
    ],
)
def test_otherwise_parts_stay_and_nothing_is_said(tmp_path: Path, overrides: list[str]) -> None:
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(_with_parts()))
    said: list[str] = []
    found = load_parameters(tmp_path / "params.yaml", "demo", overrides, said.append)
    assert (len(found.demo.node_classification.parts), said) == (1, [])


@pytest.mark.parametrize(
    ("overrides", "left"),
    [
        (["node_classification.search.epochs=7"], set()),
        (["node_classification.eps_a=[7]"], {"base"}),
        (["node_classification.search.epochs=7", 'node_classification.searches={"base": {"epochs": 3}}'], {"base"}),
    ],
)
def test_a_named_search_holds_for_every_method(tmp_path: Path, overrides: list[str], left: set[str]) -> None:
    tree = changed("demo.node_classification.searches", {"base": {"epochs": 9}})
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(tree))
    said: list[str] = []
    found = load_parameters(tmp_path / "params.yaml", "demo", overrides, said.append)
    assert set(found.demo.node_classification.searches) == left
    assert ["base" in line for line in said] == ([] if left else [True])


def test_searches_that_the_other_profile_has_for_whoever_asks_do_not_end_this_ones_run(tmp_path: Path) -> None:
    tree = changed("demo.node_classification.searches", {"lpgnn": {"epochs": 9}})
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(tree))
    found = load_parameters(tmp_path / "params.yaml", "paper", ["node_classification.searches={}"])
    assert set(found.demo.node_classification.searches) == {"lpgnn"}


def _with_parts() -> dict[str, object]:
    tree = changed("demo.node_embedding", {"parts": [PARTS["node_embedding"]]})
    tree["demo"]["node_classification"] = {**tree["demo"]["node_classification"], "parts": [{"eps_a": [8]}]}
    return tree
