"""Kinds of values in params.yaml, each with its range, and the section that holds them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from tasks.epsilon import INFINITE, PER_NODE, canonical_epsilon
from tasks.errors import UserError

LEAST_BUDGET, LARGEST_BUDGET = 1e-6, 1e6


def study_budget(value: object, *, name: str = "epsilon", per_node: bool = False) -> str:
    """The canonical spelling of a budget that a study can work with.

    Raises:
        UserError: for no budget, or one so small or large that floating point has no answer.
    """
    canonical = canonical_epsilon(value, name=name, per_node=per_node)
    if canonical not in (INFINITE, PER_NODE) and not LEAST_BUDGET <= float(canonical) <= LARGEST_BUDGET:
        raise UserError(f"{name}: use a budget from {LEAST_BUDGET:g} to {LARGEST_BUDGET:g}, or inf for no noise")
    return canonical


def _budget(value: object, *, per_node: bool = False) -> str:
    try:
        return study_budget(value, per_node=per_node)
    except UserError as error:
        raise ValueError(str(error)) from None


def _no_switch(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


def _distinct(values: list[Any]) -> list[Any]:
    repeated = [value for value in values if values.count(value) > 1]
    if repeated:
        raise ValueError(f"{repeated[0]!r} is listed twice")
    return values


Budget = Annotated[str, BeforeValidator(_budget)]
GraphBudget = Annotated[str, BeforeValidator(partial(_budget, per_node=True))]
# Strings that are numbers pass: PyYAML reads 1e-3 as a string.
Whole = Annotated[int, BeforeValidator(_no_switch)]
Real = Annotated[float, BeforeValidator(_no_switch)]
Rate = Annotated[Real, Field(gt=0, le=1, allow_inf_nan=False)]
Count = Annotated[Whole, Field(ge=1)]
Positive = Annotated[Real, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[Real, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[Real, Field(ge=0, lt=1, allow_inf_nan=False)]
Steps = Annotated[Whole, Field(ge=0)]
Bound = Annotated[Real, Field(allow_inf_nan=False)]
# A name becomes a folder and an argument of DVC's commands.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Distinct = AfterValidator(_distinct)
Budgets = Annotated[list[Budget], Field(min_length=1), Distinct]
Shares = Annotated[list[Share], Field(min_length=1), Distinct]
Counts = Annotated[list[Count], Field(min_length=1), Distinct]


class Section(BaseModel):
    """A part of params.yaml; unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
