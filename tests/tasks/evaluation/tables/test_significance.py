from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t, ttest_ind, ttest_ind_from_stats

from tasks.evaluation.tables.significance import PUBLISHED_REPEATS, judged, welch_p

FRACTION = st.floats(0.01, 1)
SPREAD = st.floats(0.001, 0.2)


@given(FRACTION, SPREAD, st.integers(2, 20), FRACTION, SPREAD)
def test_p_is_welchs(mean: float, sd: float, repeats: int, theirs: float, their_sd: float) -> None:
    ours, others = sd**2 / repeats, their_sd**2 / PUBLISHED_REPEATS
    freedom = (ours + others) ** 2 / (ours**2 / (repeats - 1) + others**2 / (PUBLISHED_REPEATS - 1))
    expected = 2 * t.sf(abs(mean - theirs) / math.sqrt(ours + others), freedom)
    found = welch_p(mean, sd, repeats, theirs, their_sd)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-300)
    named = ttest_ind_from_stats(mean, sd, repeats, theirs, their_sd, PUBLISHED_REPEATS, equal_var=False)
    assert found == pytest.approx(named.pvalue)


@given(st.lists(FRACTION, min_size=3, max_size=8), st.lists(FRACTION, min_size=5, max_size=5))
def test_p_is_that_of_the_values_themselves(ours: list[float], theirs: list[float]) -> None:
    first, second = pd.Series(ours), pd.Series(theirs)
    assume(first.std() > 1e-3 and second.std() > 1e-3)
    found = welch_p(first.mean(), first.std(), len(ours), second.mean(), second.std())
    assert found == pytest.approx(ttest_ind(ours, theirs, equal_var=False).pvalue, rel=1e-6)


def compared() -> pd.DataFrame:
    lines = [
        ("high", 0.80, 0.01, 5, "table-3", 0.70, 0.01),
        ("low", 0.60, 0.01, 5, "table-3", 0.70, 0.01),
        ("near", 0.70, 0.05, 5, "table-3", 0.71, 0.05),
        ("plotted", 0.80, 0.01, 5, "figure-5", 0.70, math.nan),
        ("once", 0.80, math.nan, 1, "table-3", 0.70, 0.01),
        ("constant", 0.80, 0.0, 5, "table-3", 0.70, 0.0),
        ("unpublished", 0.80, 0.01, 5, "", math.nan, math.nan),
    ]
    frame = pd.DataFrame(lines, columns=["method", "mean", "sd", "repeats", "item", "reference_mean", "reference_sd"])
    return frame.assign(difference_points=100 * (frame["mean"] - frame["reference_mean"]))


def test_judgements_in_words() -> None:
    found = judged(compared()).set_index("method")["judgement"].to_dict()
    assert found == {
        "high": "above",
        "low": "below",
        "near": "same",
        "plotted": "untested",
        "once": "untested",
        "constant": "untested",
    }


def test_without_a_published_figure_there_is_nothing_to_judge() -> None:
    none = judged(compared().iloc[-1:])
    assert len(none) == 0
    assert {"p_value", "judgement"} <= set(none.columns)
