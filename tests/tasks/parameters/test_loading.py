from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tasks.errors import UserError
from tasks.parameters.embedding import EmbeddingMode
from tasks.parameters.loading import load_parameters
from tasks.parameters.profiles import PROFILES, Parameters

SHIPPED = Path(__file__).resolve().parents[3] / "params.yaml"
SECTION: dict[str, Any] = {
    "seed": 0,
    "node_classification": {"datasets": ["digits"], "eps_x": [1, "inf"], "eps_a": [7.0, math.inf]},
}
TREE: dict[str, Any] = {"demo": SECTION, "paper": SECTION, "datasets": {}}


def load(tmp_path: Path, tree: object, *overrides: str, profile: str = "demo") -> Parameters:
    path = tmp_path / "params.yaml"
    path.write_text(tree if isinstance(tree, str) else yaml.safe_dump(tree))
    return load_parameters(path, profile, overrides)


def refusal(tmp_path: Path, tree: object, *overrides: str, profile: str = "demo") -> str:
    with pytest.raises(UserError) as mistake:
        load(tmp_path, tree, *overrides, profile=profile)
    text = str(mistake.value)
    assert len(text.splitlines()) == 1
    return text


def changed(key: str, value: object) -> dict[str, Any]:
    """TREE with one dotted key set."""
    tree = copy.deepcopy(TREE)
    *parents, leaf = key.split(".")
    section = tree
    for name in parents:
        section = section.setdefault(name, {})
    section[leaf] = value
    return tree


@pytest.mark.parametrize("profile", PROFILES)
def test_the_shipped_file_is_valid_and_says_all_that_dvc_reads(profile: str) -> None:
    parameters = load_parameters(SHIPPED, profile)
    section = getattr(parameters, profile)
    assert section.repeats >= 3
    assert section.node_classification.datasets


def test_the_paper_grid_is_the_papers() -> None:
    """Solitude, table 3 (eps_x 1, eps_a from 7 to 8), figure 4 (eps_x 0.5, 2 too) and figure 5 (label rates)."""
    table, figure_4, figure_5, *_ = load_parameters(SHIPPED, "paper").paper.node_classification.grids()
    assert table.eps_x == ["1"]
    assert table.eps_a == figure_4.eps_a == ["7", "7.3", "7.5", "7.7", "7.9", "8"]
    assert figure_4.eps_x == ["0.5", "2"]
    assert (figure_5.eps_x, figure_5.eps_a) == (["1"], ["7.9"])
    assert [*figure_5.label_rates, *table.label_rates] == [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"label_rates": [0.6]}, "must be 0.5 or less"),
        ({"label_rates": [0]}, "greater than 0"),
        ({"eps_a": []}, "1 or more entries"),
        ({"mode": "both"}, "'directed'"),
        ({"datasets": ["cora"]}, "not a known key"),
    ],
)
def test_a_part_of_the_grid_is_checked_like_the_grid(tmp_path: Path, part: dict[str, Any], says: str) -> None:
    line = refusal(tmp_path, changed("demo.node_classification.parts", [part]))
    assert "demo.node_classification.parts.0" in line
    assert says in line


def test_a_part_is_the_studys_grid_but_for_what_it_names(tmp_path: Path) -> None:
    tree = changed("demo.node_classification.parts", [{"mode": "pair", "eps_a": [3]}])
    own, part = load(tmp_path, tree).demo.node_classification.grids()
    assert part == own.model_copy(update={"mode": "pair", "eps_a": ["3"]})


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
    ("demo.node_clasification", {}, "not a known key"),
    ("demo.node_classification.eps", [1], "not a known key"),
    ("demo.node_classification.search.lr", [1], "not a known key"),
    ("extra", 1, "not a known key"),
    ("demo.seed", -1, "must be 0 or more"),
    ("demo.seed", 2**63, "less than"),
    ("demo.seed", "first", "whole number"),
    ("demo.seed", 0.5, "whole number"),
    ("demo.seed", True, "true or false"),
    ("demo.seed", math.nan, "finite"),
    ("demo.repeats", 0, "must be 1 or more"),
    ("demo.repeats", None, "whole number"),
    ("demo.repeats", True, "true or false"),
    ("demo.workers", 0, "must be 1 or more"),
    ("demo.runner", "slurm", "'threads', 'processes' or 'dask'"),
    ("demo.device", "tpu", "'auto', 'cpu' or 'cuda'"),
    ("demo.dask_address", 7, "must be text"),
    ("demo.node_classification", None, "must be a section"),
    ("demo.node_classification.datasets", [], "1 or more entries"),
    ("demo.node_classification.datasets", "digits", "list"),
    ("demo.node_classification.datasets", ["digits", "digits"], "listed twice"),
    ("demo.node_classification.datasets", {"0": None}, "list"),
    ("demo.node_classification.eps_a", 7, "list"),
    ("demo.node_classification.eps_a", [0], "use inf for no noise"),
    ("demo.node_classification.eps_a", [-7], "negative"),
    ("demo.node_classification.eps_a", ["-0.5"], "negative"),
    ("demo.node_classification.eps_a", [math.nan], "NaN"),
    ("demo.node_classification.eps_a", ["1/n"], "not a budget"),
    ("demo.node_classification.eps_a", ["seven"], "not a budget"),
    ("demo.node_classification.eps_a", [None], "not a budget"),
    ("demo.node_classification.eps_a", [True], "not a budget"),
    ("demo.node_classification.eps_a", [[7]], "not a budget"),
    ("demo.node_classification.eps_a", [7, "7.0"], "listed twice"),
    ("demo.node_classification.eps_a", ["1e-300"], "from 1e-06 to 1e+06, or inf for no noise"),
    ("demo.node_classification.eps_a", [10**300], "from 1e-06 to 1e+06, or inf for no noise"),
    ("demo.node_classification.budget", 0, "use inf for no noise"),
    ("demo.node_classification.mode", "both", "'directed'"),
    ("demo.node_classification.methods", ["magic"], "magic"),
    ("demo.node_classification.backbones", ["gat"], "'gcn'"),
    ("demo.node_classification.search.learning_rate", [0], "greater than 0"),
    ("demo.node_classification.search.learning_rate", [math.inf], "must be 1 or less"),
    ("demo.node_classification.search.learning_rate", [True], "true or false"),
    ("demo.node_classification.search.dropout", [1], "less than 1"),
    ("demo.node_classification.search.weight_decay", [-0.1], "must be 0 or more"),
    ("demo.node_classification.search.weight_decay", [], "1 or more entries"),
    ("demo.node_classification.search.epochs", 501, "500"),
    ("demo.node_classification.memory_limit_mb", 0, "must be 1 or more"),
    ("datasets", None, "must be a section"),
    ("datasets.mine", {}, "missing"),
    ("datasets.mine", {"edges": "a.csv", "secret": True}, "not a known key"),
    ("datasets.mine", {"edges": "a.csv", "private": "perhaps"}, "must be true or false"),
    ("datasets.mine", {"edges": "a.csv", "nodes": 0}, "must be 1 or more"),
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
        ("repeats", "has no '='"),
        ("node_classification.eps_a=[inf]", "is not JSON; quote strings"),
        ("repeats=" + "[" * 100_000, "is not JSON"),
        ("repeats=" + "9" * 5_000, "is not JSON"),
        ("repeats.of.what=1", "repeats is not a section"),
        ("node_classification.eps_a.0=1", "node_classification.eps_a is not a section"),
        ("datasets.friends.private=false", "keys are those below the profile"),
        ("paper.repeats=1", "keys are those below the profile"),
        ("=1", "not a known key"),
        ("node_classification.=1", "not a known key"),
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
    assert "use one of demo, paper" in refusal(tmp_path, TREE, profile=profile)


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
    with pytest.raises(UserError, match=r"latin\.yaml is not valid YAML"):
        load_parameters(tmp_path / "latin.yaml")


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


def test_the_paper_grid_of_walks_is_fedwalks() -> None:
    """FedWalk's defaults, and the budgets that its walks are judged at."""
    grid = load_parameters(SHIPPED, "paper").paper.node_embedding
    assert (grid.walks, grid.length, grid.window, grid.dimensions, grid.splits) == ([80], 40, 10, 128, 10)
    assert (grid.eps_encoder, grid.bins, grid.p) == (["2"], ["auto"], [0.2])
    assert grid.train_ratios == [tenth / 10 for tenth in range(1, 10)]
    for dataset in grid.datasets:
        grids = [part for part, _ in grid.grids(dataset, 5)]
        assert {eps for part in grids for eps in part.eps_encoder} == {"0.25", "0.5", "1", "2"}
        full = {mode for part in grids for mode in part.modes if "2" in part.eps_encoder and part.walks == [80]}
        assert full == set(get_args(EmbeddingMode))
        assert any(part.p == [0] for part in grids)
        assert any(part.pad for part in grids)


def test_a_part_of_walks_is_the_studys_grid_with_what_it_names_on_its_data_sets(tmp_path: Path) -> None:
    part = {"datasets": ["ppi"], "repeats": 2, "bins": [3], "pad": True, "eps_encoder": ["0.50"]}
    tree = changed("demo.node_embedding", {"modes": ["walk"], "p": [0.1], "repeats": 4, "parts": [part, {"p": [0]}]})
    grid = load(tmp_path, tree).demo.node_embedding
    own, (theirs, twice), everywhere = grid.grids("ppi", 3)
    assert (own[0].p, own[0].pad, own[1]) == ([0.1], False, 3)
    assert (theirs.modes, theirs.p, theirs.bins, theirs.pad, theirs.eps_encoder) == (
        ["walk"],
        [0.1],
        [3],
        True,
        ["0.5"],
    )
    assert (twice, everywhere[0].p, everywhere[1]) == (2, [0], 3)
    assert grid.grids("blogcatalog", 5) == [(own[0], 4), (everywhere[0], 4)]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("bins", ["auto", 7], "auto is a number too"),
        ("bins", [0], "must be auto or a whole number of 1 or more (got 0)"),
        ("bins", ["many"], "must be auto or a whole number of 1 or more (got 'many')"),
        ("bins", [True], "must be auto or a whole number of 1 or more (got True)"),
        ("modes", ["fly"], "must be 'deepwalk'"),
        ("modes", ["walk", "walk"], "'walk' is listed twice"),
        ("p", [1.0], "must be less than 1"),
        ("train_ratios", [1], "must be less than 1"),
        ("eps_degree", 0, "use inf for no noise"),
        ("eps_counts", [1], "is not a budget"),
        ("pad", "maybe", "must be true or false"),
        ("parts", [{"walks": []}], "1 or more entries"),
        ("parts", [{"length": 40}], "is not a known key"),
        ("repeats", 0, "must be 1 or more"),
    ],
)
def test_walks_have_their_own_rules(tmp_path: Path, key: str, value: object, says: str) -> None:
    text = refusal(tmp_path, changed(f"demo.node_embedding.{key}", value))
    assert f"demo.node_embedding.{key}" in text
    assert says in text


def test_spellings_of_walks_are_one_value(tmp_path: Path) -> None:
    tree = changed("demo.node_embedding", {"bins": ["5", 7], "eps_encoder": [2.0], "p": ["2e-1"], "walks": ["80"]})
    grid = load(tmp_path, tree).demo.node_embedding
    assert (grid.bins, grid.eps_encoder, grid.p, grid.walks) == ([5, 7], ["2"], [0.2], [80])


def test_the_paper_grid_of_graphs_is_the_papers_and_wider_budgets() -> None:
    grid = load_parameters(SHIPPED, "paper").paper.graph_classification
    assert grid.datasets == ["mutag", "proteins", "imdb-binary"]
    assert grid.eps == ["1/n", "0.1", "1", "10", "100", "1000", "inf"]
    assert grid.encoders == ["per_row", "row", "paper", "gaussian_scale"]
    assert (grid.backbones, grid.rounds, grid.clients) == (["gcn", "gin"], 200, 10)
    assert (grid.cure, grid.gamma_unit, grid.metric, grid.rectify) == ("none", "median", "euclidean", False)


def test_one_over_n_is_a_budget_of_graphs_alone(tmp_path: Path) -> None:
    tree = changed("demo.graph_classification", {"eps": ["1 / N", 1.0, math.inf]})
    assert load(tmp_path, tree).demo.graph_classification.eps == ["1/n", "1", "inf"]
    assert "'1/n' is not a budget" in refusal(tmp_path, changed("demo.node_embedding.eps_encoder", ["1/n"]))


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("encoders", ["gauss"], "must be 'per_row'"),
        ("eps", [0], "use inf for no noise"),
        ("solver", {"block": 0}, "must be 1 or more"),
        ("cure", "mirror", "must be 'none'"),
        ("baselines", ["spk", "spk"], "'spk' is listed twice"),
    ],
)
def test_graphs_have_their_own_rules(tmp_path: Path, key: str, value: object, says: str) -> None:
    text = refusal(tmp_path, changed(f"demo.graph_classification.{key}", value))
    assert f"demo.graph_classification.{key}" in text
    assert says in text


def test_a_method_may_have_a_grid_of_its_own(tmp_path: Path) -> None:
    study = load(tmp_path, changed("demo.node_classification.searches", {"base": {"epochs": 3}})).demo
    assert study.node_classification.search_for("base").epochs == 3
    assert study.node_classification.search_for("mutual") == study.node_classification.search
    line = refusal(tmp_path, changed("demo.node_classification.searches", {"lpgnn": {}}))
    assert "searches names lpgnn, which no grid has" in line
    assert "'nobody' is unknown" in refusal(tmp_path, changed("demo.node_classification.searches", {"nobody": {}}))


def test_a_command_line_may_leave_searches_of_the_file_unused_but_not_its_own(tmp_path: Path) -> None:
    tree = changed("demo.node_classification.methods", ["base", "mutual"])
    tree["demo"]["node_classification"]["searches"] = {"base": {"epochs": 3}}
    narrow = 'node_classification.methods=["mutual"]'
    assert load(tmp_path, tree, narrow).demo.node_classification.methods == ["mutual"]
    for own in ('searches={"base": {}}', "searches.base={}", "searches.base.epochs=4", 'searches={"mutaul": {}}'):
        line = refusal(tmp_path, tree, narrow, f"node_classification.{own}")
        assert "which no grid has" in line or "'mutaul' is unknown" in line
    # What the file itself leaves unused is a mistake in the file, whatever the command line says.
    tree["demo"]["node_classification"]["searches"]["lpgnn"] = {}
    for overrides in ((), ("repeats=1",), (narrow,)):
        assert "lpgnn, which no grid has" in refusal(tmp_path, tree, *overrides)


def test_the_papers_methods_can_be_narrowed() -> None:
    chosen = load_parameters(
        SHIPPED, "paper", ['node_classification.methods=["mutual"]', "node_classification.parts=[]"]
    )
    assert {name for grid in chosen.paper.node_classification.grids() for name in grid.methods} == {"mutual"}
    assert load_parameters(SHIPPED, "paper", ['node_classification.methods=["mutual"]'])


@pytest.mark.parametrize("key", sorted({key for key, _, _ in BAD if key.count(".") < 3}))
@pytest.mark.parametrize("value", [{"x": {}}, [[]], "x", 1.5, True, None], ids=repr)
def test_no_message_is_in_the_librarys_words(tmp_path: Path, key: str, value: object) -> None:
    foreign = ("Input", "instance", "valid ", "validation", "dictionary")
    try:
        load(tmp_path, changed(key, value))
    except UserError as mistake:
        assert not [word for word in foreign if word in str(mistake)]
