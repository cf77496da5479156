"""Whether ours and a published figure differ by more than their repeats do (Welch's t-test)."""

from __future__ import annotations

import math

import pandas as pd
from scipy.stats import ttest_ind_from_stats

LEVEL = 0.05
PUBLISHED_REPEATS = 5
ABOVE, BELOW, SAME, UNTESTED = "above", "below", "same", "untested"
WORDS = (
    "Differences are ours less the published figure, in points. The test is Welch's two-sided t-test from mean, "
    "standard deviation and number of repeats on both sides; for the papers "
    f"{PUBLISHED_REPEATS} repeats are assumed throughout. A difference counts when p is below {LEVEL:.0%}. Nothing is "
    "corrected for the number of comparisons: of a hundred comparisons of equals about five would count. Without a "
    "standard deviation on both sides (figures read off a plot, tables that print none, a single repeat) there is no "
    "test."
)


def welch_p(mean: float, sd: float, repeats: int, reference_mean: float, reference_sd: float) -> float:
    """Two-sided p-value against a published figure of ``PUBLISHED_REPEATS`` repeats; NaN where there is no test.

    Standard deviations have ddof=1. Two deviations of zero say nothing about chance and give NaN too.
    """
    if repeats < 2 or math.isnan(sd) or math.isnan(reference_sd) or sd == reference_sd == 0:
        return math.nan
    found = ttest_ind_from_stats(mean, sd, repeats, reference_mean, reference_sd, PUBLISHED_REPEATS, equal_var=False)
    return float(found.pvalue)


def judged(compared: pd.DataFrame) -> pd.DataFrame:
    """The lines that have a published figure (``reference.beside``), with columns ``p_value`` and ``judgement``.

    ``judgement`` is ``above``, ``below`` or ``same`` (not significant), ``untested`` where p is NaN.
    """
    lines = compared[compared["item"] != ""].reset_index(drop=True)
    names = ["mean", "sd", "repeats", "reference_mean", "reference_sd"]
    p_values = [welch_p(*values) for values in lines[names].itertuples(index=False)]
    judgements = [_judgement(p, points) for p, points in zip(p_values, lines["difference_points"], strict=True)]
    return lines.assign(
        p_value=pd.Series(p_values, index=lines.index, dtype=float),
        judgement=pd.Series(judgements, index=lines.index, dtype=object),
    )


def _judgement(p_value: float, points: float) -> str:
    if math.isnan(p_value):
        return UNTESTED
    if p_value >= LEVEL:
        return SAME
    return ABOVE if points > 0 else BELOW
