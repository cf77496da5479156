"""What is wrong with a value of params.yaml, in one line of plain words."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

SHOWN = 100

RULES: Mapping[str, str] = {
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of fewer digits",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "string_pattern_mismatch": "must begin with a letter or digit; then also '.', '_' and '-' may stand",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "too_short": "must have {min_length} or more entries",
    "too_long": "must have at most {max_length} entries",
    "dict_type": "must be a section of keys and values",
    "model_type": "must be a section of keys and values",
    "literal_error": "must be {expected}",
}
"""Rules by pydantic's kind of error, whose own words are about its classes."""


def problem(error: ValidationError) -> str:
    """The first problem: the key, the rule, and what stands there instead."""
    first = error.errors(include_url=False)[0]
    where = shortened(".".join(str(part) for part in first["loc"]), plain=True)
    if first["type"] == "extra_forbidden":
        return f"{where} is not a known key; remove it or check its spelling"
    if first["type"] == "missing":
        return f"{where} is missing; add it"
    rule = first["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    if first["type"] in RULES:
        bounds = {name: f"{x:g}" if isinstance(x, float) else x for name, x in first.get("ctx", {}).items()}
        rule = RULES[first["type"]].format(**bounds)
    return f"{where}: {rule} (got {shortened(first['input'])})"


def shortened(value: object, *, plain: bool = False) -> str:
    """A value as it may be shown in one line."""
    try:
        text = str(value) if plain else repr(value)
    except (ValueError, RecursionError):  # an integer of more than 4300 digits, or deep nesting
        text = type(value).__name__
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
