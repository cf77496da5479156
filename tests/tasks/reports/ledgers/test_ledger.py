import json
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.errors import UserError
from tasks.reports.ledgers.budget import require_within
from tasks.reports.ledgers.composition import compose
from tasks.reports.ledgers.ledger import Ledger, LedgerLine
from tasks.reports.ledgers.ledger_line import SIMULATION, fresh_report_key, local_privacy_line
from tasks.reports.ledgers.ledger_table import ledger_markdown, ledger_tables, ledgers_json, read_ledgers
from tasks.reports.ledgers.units import spent_on_bits, spent_on_degree
from tasks.seeds import generator

budgets = st.decimals("0.0001", "1000", places=4).map(lambda d: format(d.normalize(), "f"))


def line(kind: str, epsilon: str, key: str, *, dataset: str = "toy", simulated: bool = True) -> LedgerLine:
    return local_privacy_line(
        mechanism=f"mechanism for {kind}",
        dataset=dataset,
        deployment_key=kind,
        report_key=key,
        epsilon=epsilon,
        unit="neighbour list (one edge)" if kind == "edges" else "feature vector",
        claim=f"{epsilon}-LDP",
        not_protected="the rest",
        simulated=simulated,
        spends=spent_on_bits(epsilon, 2) if kind == "edges" else {"features": epsilon},
    )


PUBLIC = LedgerLine(
    mechanism="labels in clear",
    dataset="toy",
    deployment_key="labels",
    report_key="labels",
    epsilon="inf",
    unit="label",
    statement="no guarantee",
    not_protected="labels",
    guarantee=False,
    simulated=False,
    declared_public=True,
)

STUDY = Ledger(
    (
        *(line("edges", eps, f"a{eps}/{repeat}") for eps in ("7", "7.3") for repeat in range(5)),
        *(line("features", eps, f"x{eps}/{repeat}") for eps in ("0.1", "1") for repeat in range(5)),
        PUBLIC,
    )
)


@given(st.lists(budgets, max_size=20))
def test_sums_are_exact_decimals(epsilons: list[str]) -> None:
    assert Decimal(compose(epsilons)) == sum(map(Decimal, epsilons))


def test_sums_do_not_drift_and_infinity_absorbs() -> None:
    assert compose(["0.1"] * 3) == "0.3"
    assert compose(["1", "inf", "2"]) == "inf"
    assert compose([]) == "0"
    assert compose(["0.0000000000000000000000000000001", "100000"]) == "100000.0000000000000000000000000000001"


def test_deployment_is_one_report_of_each_kind() -> None:
    total = STUDY.deployment("toy", {"features": "1", "edges": "7.3"})
    assert total.spent == {"edge": "7.3", "replacement": "14.6", "relation": "14.6", "features": "1"}
    assert total.reports == 2
    assert {
        tuple(choice.items()): (t.spent["edge"], t.spent["features"]) for choice, t in STUDY.deployments("toy")
    } == {(("edges", a), ("features", x)): (a, x) for a in ("7", "7.3") for x in ("0.1", "1")}
    with pytest.raises(UserError, match=r"toy .*edges .*9"):
        STUDY.deployment("toy", {"edges": "9"})


def test_released_sums_distinct_reports_and_reuse_is_free() -> None:
    released = STUDY.released("toy")
    assert released.spent == {"edge": "71.5", "replacement": "143", "relation": "143", "features": "5.5"}
    assert released.reports == 20
    assert STUDY.extended(STUDY.lines) == STUDY
    raw = STUDY.extended([line("edges", "inf", "raw")])
    assert raw.released("toy").spent == {**released.spent, "edge": "inf", "replacement": "inf", "relation": "inf"}
    assert raw.released("toy", noisy_only=True) == released
    assert Ledger().released("toy").spent == {}


def test_one_key_cannot_name_two_reports() -> None:
    with pytest.raises(UserError, match="a7/0"):
        STUDY.extended([line("edges", "8", "a7/0")])


def test_order_of_entry_does_not_matter() -> None:
    assert Ledger(STUDY.lines[::-1]).to_json() == STUDY.to_json()


def test_budget_is_refused_per_deployment() -> None:
    STUDY.require_within("8.3")
    with pytest.raises(UserError, match=r"toy: .* 8\.3 \(edges 7\.3 \+ features 1\).* 8\.29"):
        STUDY.require_within("8.29")
    STUDY.extended([line("edges", "inf", "raw")]).require_within("inf")
    with pytest.raises(UserError, match=r"toy: .* inf \(edges inf .* 100"):
        STUDY.extended([line("edges", "inf", "raw")]).require_within("100")
    parts = {"edges": spent_on_bits("7", 2), "degree": spent_on_degree("1"), "features": {"features": "1"}}
    require_within(parts, "9", dataset="toy")
    with pytest.raises(UserError, match=r"toy: .* 9 \(degree 1 \+ edges 7 \+ features 1\).* 8"):
        require_within(parts, "8", dataset="toy")


def test_data_sets_do_not_add_up() -> None:
    both = STUDY.extended([line("edges", "7", "other", dataset="other")])
    assert both.datasets() == ("other", "toy")
    assert both.released("other").spent["edge"] == "7"


def test_statements_say_when_nothing_is_protected() -> None:
    assert line("edges", "7", "k").statement.startswith(SIMULATION)
    assert line("edges", "inf", "k").statement == "no noise (epsilon inf): no privacy"
    protected = line("edges", "7", "k", simulated=False)
    assert protected.statement == "protected: 7-LDP"
    assert protected.guarantee
    for wrong in ({"simulated": True}, {"epsilon": "inf"}, {"declared_public": True}):
        with pytest.raises(UserError, match="guarantee"):
            replace(protected, **wrong)


def test_lines_are_validated() -> None:
    good = line("edges", "7", "k")
    for wrong in ({"epsilon": "7.0"}, {"epsilon": "0"}, {"unit": ""}, {"notes": ["a"]}, {"guarantee": 1}):
        with pytest.raises(UserError):
            replace(good, **wrong)


def test_json_round_trip_and_damage() -> None:
    assert Ledger.from_json(STUDY.to_json()) == STUDY
    rows = json.loads(STUDY.to_json())
    del rows[0]["unit"]
    for damaged in ("", "{}", "[1]", "[" * 100_000, json.dumps(rows), STUDY.to_json()[:-3]):
        with pytest.raises(UserError):
            Ledger.from_json(damaged)


def test_ledgers_of_alternatives_keep_titles_and_order() -> None:
    ledgers = {"second": STUDY, "first": Ledger(STUDY.lines[:1])}
    text = ledgers_json(ledgers)
    assert list(read_ledgers(text).items()) == list(ledgers.items())
    for damaged in ("", "[]", "[" * 100_000, '{"second": 1}', '{"second": [1]}', text[:-3]):
        with pytest.raises(UserError):
            read_ledgers(damaged)


def test_the_text_has_every_cell_and_word_of_the_tables() -> None:
    tables, words = ledger_tables(STUDY)
    lines = ledger_markdown(STUDY).splitlines()
    assert set(tables) | set(words) < set(lines)
    shown = [tuple(line.strip("| ").split(" | ")) for line in lines if line.startswith("|") and " --- " not in line]
    assert shown == [row for rows in tables.values() for row in rows]


def test_table_shows_totals_and_words() -> None:
    tables, words = ledger_tables(STUDY)
    rows = [row for table in tables.values() for row in table]
    assert ("data set", "one of each", "edge", "replacement", "relation", "features") in rows
    assert ("toy", "edges 7.3 + features 1", "7.3", "14.6", "14.6", "1") in rows
    assert [(row[0], *row[2:]) for row in rows if row[1].startswith(("edge:", "features:"))] == [
        ("toy", "10", "71.5", "71.5"),
        ("toy", "10", "5.5", "5.5"),
    ]
    assert {line.mechanism for line in STUDY.lines} == {row[1] for row in tables["Reports"][1:]}
    for line in STUDY.lines:
        assert any(line.statement in text and line.not_protected in text for text in words)


def test_report_keys_follow_the_generator_and_hide_it() -> None:
    keys = [fresh_report_key(generator(seed), "a", "b") for seed in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]
    assert fresh_report_key(generator(1), "a", "c") != keys[0]
    assert keys[0] not in generator(1).bytes(32).hex()
