"""Privacy budgets: one canonical spelling for every way YAML and people write them."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation

from tasks.errors import UserError

INFINITE = "inf"
PER_NODE = "1/n"


def canonical_epsilon(value: object, *, name: str = "epsilon", per_node: bool = False) -> str:
    """Shortest decimal spelling of a positive budget: ``"7"``, ``"7.3"``, ``"inf"``.

    Args:
        value: a number or a string; ``"inf"`` in any case, or YAML's ``.inf``, means no noise.
        name: what the error message calls the value.
        per_node: also accept ``"1/n"`` (one over the node count), used by graph-level studies.

    Raises:
        UserError: for zero, negative, NaN, boolean or unreadable values.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        raise UserError(f"{name}: {value!r} is not a budget; use a positive number or 'inf'")
    try:
        text = str(value).strip().lower()
    except ValueError:  # an integer of more than 4300 digits
        raise UserError(f"{name}: the value is out of range; use a positive number or 'inf'") from None
    if text.removeprefix("+") in {"inf", ".inf", "infinity"}:
        return INFINITE
    if per_node and text.replace(" ", "") == PER_NODE:
        return PER_NODE
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise UserError(f"{name}: {value!r} is not a budget; use a positive number or 'inf'") from None
    if number.is_nan():
        raise UserError(f"{name}: NaN is not a budget; use a positive number or 'inf'")
    if number == 0:
        raise UserError(f"{name}: 0 would send pure noise and is ambiguous; use inf for no noise")
    if number < 0:
        raise UserError(f"{name}: {value} is negative; use a positive number or 'inf'")
    if not math.isfinite(float(number)) or float(number) == 0.0:
        raise UserError(f"{name}: {value} is out of range; use a positive number or 'inf'")
    plain = format(number, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def epsilon_value(canonical: str, *, nodes: int | None = None) -> float:
    """The budget as a float; ``"1/n"`` needs ``nodes``, the (public) node count."""
    if canonical == PER_NODE:
        if not nodes:
            raise UserError("epsilon 1/n needs a graph with at least one node")
        return 1.0 / nodes
    return float(canonical)


def epsilon_sort_key(canonical: str) -> float:
    """Orders canonical budgets by size, ``"1/n"`` first and ``"inf"`` last."""
    return -1.0 if canonical == PER_NODE else float(canonical)
