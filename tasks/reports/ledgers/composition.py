"""Sequential composition of budgets: sums that are exact in decimal."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, localcontext

from tasks.epsilon import INFINITE, canonical_epsilon

NOTHING_SPENT = "0"


def compose(epsilons: Iterable[str]) -> str:
    """The sum of canonical budgets; ``"inf"`` absorbs and no terms give ``"0"``.

    Sequential composition (Dwork and Roth 2014, theorem 3.14): reports on the same person add up.
    """
    terms = list(epsilons)
    if INFINITE in terms:
        return INFINITE
    with localcontext() as context:
        context.prec = 1_000  # a float has at most 309 digits before and 324 after the point: no sum is rounded
        total = sum((Decimal(term) for term in terms), Decimal(0))
    return canonical_epsilon(total) if total else NOTHING_SPENT
