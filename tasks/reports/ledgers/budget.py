"""The check of a deployment against a study's declared budget, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from tasks.epsilon import INFINITE, canonical_epsilon
from tasks.errors import UserError
from tasks.reports.ledgers.composition import compose
from tasks.reports.ledgers.units import Spent

OF_ONE_USER = ("edge", "features", "graph")
"""What one user holds; a deployment costs the user the sum of one unit of each."""


def cost_to_a_user(spent: Spent) -> str:
    """One edge of the list, the feature vector and the graph, together."""
    return compose(spent[unit] for unit in OF_ONE_USER if unit in spent)


def require_within(spent: Mapping[str, Spent], budget: str, *, dataset: str) -> None:
    """Refuses a deployment (one report of each named kind) that costs a user more than ``budget``.

    Raises:
        UserError: when it does.
    """
    costs = {kind: cost_to_a_user(of) for kind, of in sorted(spent.items())}
    total = compose(costs.values())
    if Decimal(total) > Decimal(canonical_epsilon(budget, name="budget")):
        parts = " + ".join(f"{kind} {epsilon}" for kind, epsilon in costs.items())
        remedy = "leave out what is sent in clear" if total == INFINITE else "lower an epsilon"
        raise UserError(
            f"{dataset}: one deployment costs a user {total} ({parts}), above the declared budget {budget}: {remedy} "
            "or declare a larger budget"
        )
