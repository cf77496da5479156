"""Sequential composition of budgets: sums that are exact in decimal, and the check against a declared budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal, localcontext

from tasks.epsilon import INFINITE, canonical_epsilon
from tasks.errors import UserError

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


def require_within(epsilons: Mapping[str, str], budget: str, *, dataset: str) -> None:
    """Refuses a deployment (one report of each named kind) that costs a user more than ``budget``.

    Meant to be called before anything is drawn.

    Raises:
        UserError: when the composed budget is above the declared one.
    """
    total = compose(epsilons.values())
    if Decimal(total) > Decimal(canonical_epsilon(budget, name="budget")):
        parts = " + ".join(f"{kind} {epsilon}" for kind, epsilon in sorted(epsilons.items()))
        raise UserError(
            f"{dataset}: one deployment costs a user {total} ({parts}), above the declared budget {budget}: "
            f"{'leave out what is sent in clear' if total == 'inf' else 'lower an epsilon'} or declare a larger budget"
        )
