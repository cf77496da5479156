"""Empirical lower bounds on the budget that a mechanism really spends (Ding et al., CCS 2018; Jagielski et al., 2020).

Outputs of two neighbouring inputs, many draws each, are summarised as integers. On the first third the event (a set of
integers) with the largest estimated log ratio is chosen: its first part ranks the integers by likelihood ratio, its
second says how many of the ranking to take, or those that lead it by luck would be taken for an event. On the other
two thirds the event's probabilities are bounded by Clopper-Pearson, so choosing costs no confidence. The draws need not
be alike: those of different users, the same ones under both inputs, deviate less than a binomial of their mean
probability does (Hoeffding, 1956). A lower bound above the claim refutes the claim; one below it proves nothing but
says how much of the claim was seen spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from tasks.errors import UserError

PARTS = (1, 1, 4)
"""Shares of the draws that rank outcomes, choose the event and bound its probabilities."""
RANKING, CHOOSING, BOUNDING = range(3)


@dataclass(frozen=True)
class AuditResult:
    """The outcome of an audit.

    Attributes:
        lower_bound: the budget spent is at least this, with the stated confidence; never below 0.
        draws: outputs per input, all parts together.
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


def parted(draws: int) -> tuple[int, int, int]:
    """How many of the draws rank, choose and bound; at least one each of four or more."""
    ranking, choosing = (max(1, draws * part // sum(PARTS)) for part in PARTS[:2])
    return ranking, choosing, draws - ranking - choosing


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
    outcomes, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    ends = np.cumsum(parted(len(first)))[:-1]
    counts = [
        np.array([np.bincount(part, minlength=len(outcomes)) for part in np.split(side, ends)])
        for side in (places[: len(first)], places[len(first) :])
    ]
    risk = (1 - confidence) / mechanisms
    bound, event, turned = bounded(counts[0], counts[1], risk, delta)
    chosen = tuple(int(x) for x in outcomes[event])
    return AuditResult(bound, len(first), confidence, chosen, turned)


def bounded(
    first: NDArray[np.int64], second: NDArray[np.int64], risk: float, delta: float = 0.0
) -> tuple[float, NDArray[np.int64], bool]:
    """The lower bound, the event, and whether it is likelier under the second input.

    Args:
        first, second: int64 (3, outcomes), how often each outcome was seen in each part of the draws.
        risk: that the bound is above the truth.
        delta: as in ``audit_epsilon``.
    """
    event, turned = _likeliest_event(first, second, delta)
    likely, unlikely = (second, first) if turned else (first, second)
    (seen, trials), (unseen, others) = (
        (int(side[BOUNDING, event].sum()), int(side[BOUNDING].sum())) for side in (likely, unlikely)
    )
    low, _ = clopper_pearson(seen, trials, risk / 2)
    _, high = clopper_pearson(unseen, others, risk / 2)
    bound = math.log((low - delta) / high) if low > delta else 0.0
    return max(0.0, bound), event, turned


def _likeliest_event(first: NDArray, second: NDArray, delta: float) -> tuple[NDArray[np.int64], bool]:
    """The event with the best cautious log ratio among the prefixes of the outcomes ranked by likelihood ratio."""
    best, best_score, turned = np.zeros(1, dtype=np.int64), -math.inf, False
    # In standard deviations: about the largest among that many events, so that none is chosen for its luck.
    caution = min(3.0, math.sqrt(2 * math.log(4 + 2 * np.count_nonzero(first[RANKING] + second[RANKING]))))
    for reverse in (False, True):
        likely, unlikely = (second, first) if reverse else (first, second)
        order = np.argsort(-(likely[RANKING] + 1) / (unlikely[RANKING] + 1), kind="stable")
        a, b = (side[CHOOSING, order].cumsum() for side in (likely, unlikely))
        cautious_a = np.maximum(a - caution * np.sqrt(a + 1), 0.0) - delta * likely[CHOOSING].sum()
        scores = np.log(np.maximum(cautious_a, 1e-9)) - np.log(b + caution * np.sqrt(b + 1))
        place = int(np.argmax(scores))
        if scores[place] > best_score:
            best, best_score, turned = order[: place + 1], float(scores[place]), reverse
    return best, turned
