"""The smallest share of users in clear that an audit would catch: its power against a leak, computed and not drawn.

A leak of share s sends an input as it is with probability s. The event "a copy of this input" then has the probability
own + s (reach - own) under it and neighbour (1 - s) under the other one; it refutes a claim once its lower limit is
more than e^claim times the other's upper limit. The chance that the counts come out less telling than assumed is 1 in
20 for each of the two inputs.
"""

from __future__ import annotations

import math

from scipy.stats import binom

from tasks.evaluation.audits.case import Copies
from tasks.evaluation.audits.lower_bound import clopper_pearson

LUCK = 0.05
"""Of counts that are less telling than assumed, for each input."""
STEPS = 40
"""Halvings of the interval that holds the share."""


def smallest_share(claim: float, copies: Copies, trials: int, risk: float) -> float:
    """The smallest share in clear that is caught, 1 where not even everybody in clear would be.

    Args:
        claim: the epsilon that the leak must be seen to exceed.
        copies: chances of a copy under the right law.
        trials: draws per input that bound the event.
        risk: of the bound.
    """

    def caught(share: float) -> bool:
        seen = int(binom.ppf(LUCK, trials, copies.own + share * (copies.reach - copies.own)))
        unseen = int(binom.ppf(1 - LUCK, trials, copies.neighbour * (1 - share)))
        low, _ = clopper_pearson(seen, trials, risk / 2)
        _, high = clopper_pearson(unseen, trials, risk / 2)
        return low > math.exp(claim) * high

    if not caught(1.0):
        return 1.0
    below, above = 0.0, 1.0
    for _ in range(STEPS):
        middle = (below + above) / 2
        below, above = (below, middle) if caught(middle) else (middle, above)
    return above
