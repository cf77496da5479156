from __future__ import annotations

import math
from decimal import Decimal

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.epsilon import canonical_epsilon, epsilon_sort_key, epsilon_value
from tasks.errors import UserError

budgets = st.floats(min_value=0, exclude_min=True, allow_infinity=False, allow_nan=False)
anything = st.one_of(
    st.text(), st.floats(), st.integers(), st.decimals(), st.booleans(), st.none(), st.lists(st.integers()), st.binary()
)


@given(budgets)
def test_a_float_keeps_its_value_and_has_one_spelling(budget: float) -> None:
    canonical = canonical_epsilon(budget)
    assert epsilon_value(canonical) == budget
    assert "e" not in canonical.lower()
    assert canonical_epsilon(canonical) == canonical
    assert canonical_epsilon(str(budget)) == canonical


@given(st.decimals(min_value="0.000001", max_value=10**6, places=6), st.integers(0, 5))
def test_every_spelling_of_a_number_gives_the_shortest(budget: Decimal, zeros: int) -> None:
    plain = f"{budget:f}"
    padded = f" +{'0' * zeros}{plain}{'0' * zeros} "
    canonical = canonical_epsilon(padded)
    assert Decimal(canonical) == budget
    assert {canonical_epsilon(x) for x in (budget, plain, f"{budget:E}")} == {canonical}
    assert not (canonical.endswith(".") or ("." in canonical and canonical.endswith("0")))


@pytest.mark.parametrize("text", ["7", "7.0", "07", "7.", "+7", "70e-1", "'7'", '"7.00"', " 7 "])
def test_yaml_spellings_of_seven(text: str) -> None:
    assert canonical_epsilon(yaml.safe_load(text)) == "7"


@pytest.mark.parametrize("text", ["inf", ".inf", "+.inf", "Inf", ".INF", "infinity", "'inf'"])
def test_yaml_spellings_of_no_noise(text: str) -> None:
    canonical = canonical_epsilon(yaml.safe_load(text))
    assert canonical == "inf"
    assert math.isinf(epsilon_value(canonical))


@given(st.one_of(anything, st.floats(max_value=0), st.integers(max_value=0), st.decimals(max_value=0)))
@example(10**5000)
@example(-(10**5000))
@example("1e-400")
@example("1e400")
@example("sNaN")
@example("++7")
@example(Decimal("sNaN"))
@example(True)
def test_anything_is_a_positive_budget_or_one_refused_line(value: object) -> None:
    try:
        canonical = canonical_epsilon(value, name="eps_a")
    except UserError as mistake:
        assert str(mistake).startswith("eps_a: ")
        assert len(str(mistake).splitlines()) == 1
    else:
        assert epsilon_value(canonical) > 0
        assert canonical_epsilon(canonical) == canonical


@pytest.mark.parametrize("value", [0, 0.0, "0", -0.0, "0e5", "-0"])
def test_zero_is_refused_with_the_remedy(value: object) -> None:
    with pytest.raises(UserError, match=r": 0 .*\binf\b"):
        canonical_epsilon(value)


@pytest.mark.parametrize(
    "value", [-1, "-7.5", math.nan, "nan", ".nan", -math.inf, "-inf", True, None, [], {}, "", "seven", "1/0", "++7"]
)
def test_refused(value: object) -> None:
    with pytest.raises(UserError):
        canonical_epsilon(value)


def test_one_over_n_is_for_graph_studies_alone() -> None:
    assert {canonical_epsilon(x, per_node=True) for x in ("1/n", "1/N", " 1 / n ")} == {"1/n"}
    with pytest.raises(UserError):
        canonical_epsilon("1/n")
    assert epsilon_value("1/n", nodes=8) == 1 / 8
    for nodes in (None, 0):
        with pytest.raises(UserError, match="1/n"):
            epsilon_value("1/n", nodes=nodes)


@given(st.lists(budgets, min_size=2, max_size=6))
def test_order_is_by_size(values: list[float]) -> None:
    spelled = [canonical_epsilon(value) for value in values]
    assert [float(x) for x in sorted(spelled, key=epsilon_sort_key)] == sorted(values)
    assert sorted(["inf", *spelled, "1/n"], key=epsilon_sort_key)[:: len(spelled) + 1] == ["1/n", "inf"]
