"""Empirical lower bounds on the budget that a mechanism really spends (Ding et al., CCS 2018; Jagielski et al., 2020).

Outputs of two neighbouring inputs, many draws each, are summarised as integers. On the first half the event (a set of
integers) with the largest estimated log ratio is chosen: its first part ranks the integers by likelihood ratio, its
second says how many of the ranking to take, or those that lead it by luck would be taken for an event. On the second
half the event's probabilities are bounded by Clopper-Pearson, so choosing costs no confidence. A lower bound above the
claim refutes the claim; one below it proves nothing but says how much of the claim was seen spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from tasks.errors import UserError


@dataclass(frozen=True)
class AuditResult:
    """The outcome of an audit.

    Attributes:
        lower_bound: the budget spent is at least this, with the stated confidence; never below 0.
        draws: outputs per input, both halves together.
        confidence: of the lower bound.
        event: the summarised outputs that make up the event.
        reversed: whether the event is the likelier one under the second input.
    """

    lower_bound: float
    draws: int
    confidence: float
    event: tuple[int, ...]
    reversed: bool


def clopper_pearson(successes: int, trials: int, risk: float) -> tuple[float, float]:
    """One-sided lower and upper limits of a binomial probability, each exceeded with probability at most ``risk``."""
    low = 0.0 if successes == 0 else float(beta.ppf(risk, successes, trials - successes + 1))
    high = 1.0 if successes == trials else float(beta.ppf(1 - risk, successes + 1, trials - successes))
    return low, high


def audit_epsilon(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    *,
    confidence: float = 0.999,
    mechanisms: int = 1,
    delta: float = 0.0,
) -> AuditResult:
    """Lower bound on epsilon from summarised outputs of two neighbouring inputs.

    Args:
        first, second: integer (draws,), independent outputs under each input.
        confidence: of this bound, or of all bounds together when several mechanisms are audited.
        mechanisms: how many are audited (Bonferroni).
        delta: audit (epsilon, delta) with this delta.

    Raises:
        UserError: when the two samples differ in length or are too short to split.
    """
    if first.shape != second.shape or first.ndim != 1 or len(first) < 4:
        raise UserError("audit: two samples of one length, at least four draws each, are needed")
    half = len(first) // 2
    event, turned = _likeliest_event(first[:half], second[:half], delta)
    likely, unlikely = (second, first) if turned else (first, second)
    risk = (1 - confidence) / mechanisms / 2
    trials = len(first) - half
    low, _ = clopper_pearson(int(np.isin(likely[half:], event).sum()), trials, risk)
    _, high = clopper_pearson(int(np.isin(unlikely[half:], event).sum()), trials, risk)
    bound = math.log((low - delta) / high) if low > delta else 0.0
    return AuditResult(max(0.0, bound), len(first), confidence, tuple(int(x) for x in event), turned)


def _likeliest_event(first: NDArray, second: NDArray, delta: float) -> tuple[NDArray, bool]:
    """The event with the best cautious log ratio among the prefixes of the outcomes ranked by likelihood ratio."""
    outcomes, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    ranking, choosing = slice(None, len(first) // 2), slice(len(first) // 2, None)
    sides = places[: len(first)], places[len(first) :]
    best, best_score, turned = outcomes[:1], -math.inf, False
    for reverse in (False, True):
        likely, unlikely = sides[::-1] if reverse else sides
        seen, unseen = (np.bincount(side[ranking], minlength=len(outcomes)) for side in (likely, unlikely))
        order = np.argsort(-(seen + 1) / (unseen + 1), kind="stable")
        a, b = (np.bincount(side[choosing], minlength=len(outcomes))[order].cumsum() for side in (likely, unlikely))
        # Three standard deviations against each count: events too rare to be bounded later are not chosen.
        cautious_a = np.maximum(a - 3 * np.sqrt(a + 1), 0.0) - delta * len(likely[choosing])
        scores = np.log(np.maximum(cautious_a, 1e-9)) - np.log(b + 3 * np.sqrt(b + 1))
        place = int(np.argmax(scores))
        if scores[place] > best_score:
            best, best_score, turned = outcomes[order[: place + 1]], float(scores[place]), reverse
    return best, turned
