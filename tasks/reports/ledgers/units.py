"""Units of protection: what may differ between neighbouring inputs, and what a report spends in each of them.

Budgets add up within a unit alone. A report is charged in every unit that it says something about; one that a report
is silent about costs nothing there: replacing a neighbour leaves the degree as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from tasks.epsilon import INFINITE, canonical_epsilon
from tasks.reports.ledgers.composition import compose

Spent = Mapping[str, str]
"""Canonical budgets by unit."""

UNITS = {
    "edge": "one neighbour added to or removed from one user's list",
    "replacement": "one neighbour of one user's list replaced by another, the degree being known",
    "relation": "one edge, in the lists of both its ends",
    "features": "one user's feature vector",
    "graph": "one holder's graph, its node count being known",
    "row": "one row of the embedding of one graph",
    "labels": "the label of one node or graph",
}
"""By name, in the order of tables."""
DERIVED = frozenset({"replacement", "relation"})
"""What is made of two edges of lists; a limit that is a plain number does not name them."""


def several(epsilon: str, times: int) -> str:
    """The cost of a group of ``times`` units (Dwork and Roth 2014, theorem 2.2)."""
    return INFINITE if epsilon == INFINITE else canonical_epsilon(Decimal(epsilon) * times)


def spent_on_bits(epsilon: str, ends: int) -> Spent:
    """Every bit of a list at ``epsilon``, a relation reported by one end or by both."""
    return {"edge": epsilon, "replacement": several(epsilon, 2), "relation": several(epsilon, ends)}


def spent_on_degree(epsilon: str) -> Spent:
    """A degree that one neighbour moves by one: known where a neighbour is replaced."""
    return {"edge": epsilon, "relation": several(epsilon, 2)}


def spent_on_counts(epsilon: str, sensitivity: int) -> Spent:
    """Counts by group, with noise of scale ``sensitivity / epsilon``; replacing a neighbour moves two of them."""
    one = epsilon if sensitivity == 1 or epsilon == INFINITE else canonical_epsilon(Decimal(epsilon) / sensitivity)
    return spent_on_bits(one, 2)


def spent_on_entries(release: str, padded: bool) -> Spent:
    """Lists of encoded entries: unless they are padded, their lengths are the degrees, in clear."""
    if padded:
        return {"edge": release, "replacement": release, "relation": several(release, 2)}
    return {"edge": INFINITE, "replacement": release, "relation": INFINITE}


def in_clear(*units: str) -> Spent:
    """No limit in any of these units."""
    return dict.fromkeys(units, INFINITE)


LISTS_IN_CLEAR = in_clear("edge", "replacement", "relation")


def total(spent: Iterable[Spent]) -> dict[str, str]:
    """The sum in each unit, in the order of ``UNITS``; a unit that no report says anything about is left out."""
    parts = list(spent)
    sums = {unit: [part[unit] for part in parts if unit in part] for unit in UNITS}
    return {unit: compose(budgets) for unit, budgets in sums.items() if budgets}


def limits_of(budget: str | Spent) -> dict[str, str]:
    """By unit; a plain number limits every unit of one user's report by itself."""
    if isinstance(budget, str):
        return {unit: budget for unit in UNITS if unit not in DERIVED}
    return dict(budget)


def beyond(spent: Spent, limits: Spent) -> list[str]:
    """The units in which more is spent than the limits say."""
    return [unit for unit, epsilon in spent.items() if Decimal(epsilon) > Decimal(limits.get(unit, INFINITE))]
