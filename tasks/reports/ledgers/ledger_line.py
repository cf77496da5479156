"""One line of the privacy ledger: what one report costs, what it protects, and what it does not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from tasks.epsilon import INFINITE, canonical_epsilon
from tasks.errors import UserError
from tasks.reports.ledgers.units import UNITS, Spent

SIMULATION = "simulation: noise reproducible from the seed, no protection"
NO_PRIVACY = "no noise (epsilon inf): no privacy"


@dataclass(frozen=True)
class LedgerLine:
    """What one report spends.

    Attributes:
        mechanism: the mechanism's name, for example ``"randomised response (directed)"``.
        dataset: whose users report.
        deployment_key: the slot this report fills in one deployment (``"edges"``, ``"features"``, ...): a user
            sends one report for each slot.
        report_key: names this draw. Equal keys are the same report, which costs nothing to use again.
        epsilon: budget in the unit below, canonical decimal or ``"inf"``.
        unit: what may change between neighbouring inputs, for example ``"neighbour list (one edge)"``.
        statement: what is protected, or why nothing is, in words.
        not_protected: what the statement leaves out, in words.
        guarantee: true only for noise that nobody can reproduce and a finite budget.
        simulated: the noise was drawn from a known seed.
        spends: budgets by unit of protection (``tasks.reports.ledgers.units``), which add up with those of other
            reports; a unit that the report says nothing about is left out.
        declared_public: the values are public by assumption and stay out of the totals.
        notes: further remarks, such as a data set's own.
    """

    mechanism: str
    dataset: str
    deployment_key: str
    report_key: str
    epsilon: str
    unit: str
    statement: str
    not_protected: str
    guarantee: bool
    simulated: bool
    spends: tuple[tuple[str, str], ...] = ()
    declared_public: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("mechanism", "dataset", "deployment_key", "report_key", "unit", "statement", "not_protected"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise UserError(f"ledger line: {name} must be a non-empty text")
        for name in ("guarantee", "simulated", "declared_public"):
            if not isinstance(getattr(self, name), bool):
                raise UserError(f"ledger line: {name} must be true or false")
        for name, value in (("epsilon", self.epsilon), *self.spends):
            if canonical_epsilon(value, name=name) != value:
                raise UserError(f"ledger line: {name} {value!r} is not in canonical form")
        if not dict(self.spends).keys() <= UNITS.keys():
            raise UserError("ledger line: a unit of protection is unknown; the file is damaged, make it again")
        object.__setattr__(self, "spends", tuple((unit, self.spent[unit]) for unit in UNITS if unit in self.spent))
        if not isinstance(self.notes, tuple) or not all(isinstance(note, str) for note in self.notes):
            raise UserError("ledger line: notes must be a tuple of texts")
        if self.guarantee and (self.simulated or self.epsilon == INFINITE or self.declared_public):
            raise UserError("ledger line: simulated, unlimited or public reports cannot carry a guarantee")

    @property
    def spent(self) -> Spent:
        """Budgets by unit."""
        return dict(self.spends)

    @property
    def relation_epsilon(self) -> str | None:
        """The budget of one relation, None for reports without any."""
        return self.spent.get("relation")

    def to_row(self) -> dict[str, object]:
        """The fields, as JSON has them."""
        return {**asdict(self), "notes": list(self.notes), "spends": dict(self.spends)}

    def to_json(self) -> str:
        """A canonical one-line JSON text."""
        return json.dumps(self.to_row(), sort_keys=True, ensure_ascii=True)

    @classmethod
    def from_mapping(cls, content: object) -> LedgerLine:
        """The line described by a decoded JSON object; UserError when a field is missing, extra or wrong."""
        names = {field.name for field in fields(cls)}
        if not isinstance(content, Mapping) or set(content) != names:
            raise UserError("ledger line: fields are missing or unknown; the file is damaged, make it again")
        values: dict[str, Any] = dict(content)
        if not isinstance(values["notes"], (list, tuple)) or not isinstance(values["spends"], Mapping):
            raise UserError("ledger line: notes must be a list of texts, spends budgets by unit")
        return cls(**{**values, "notes": tuple(values["notes"]), "spends": tuple(values["spends"].items())})

    @classmethod
    def from_json(cls, text: str) -> LedgerLine:
        """Reads what ``to_json`` wrote; UserError when it is anything else."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            raise UserError("ledger line: not readable as JSON; the file is damaged, make it again") from None
        return cls.from_mapping(content)


Charge = Callable[[LedgerLine], LedgerLine]
"""What a mechanism calls with its line before it draws: it may refuse, and returns the line."""


def uncharged(line: LedgerLine) -> LedgerLine:
    """The charge where no account is kept."""
    return line


def local_privacy_line(
    *,
    mechanism: str,
    dataset: str,
    deployment_key: str,
    report_key: str,
    epsilon: str,
    unit: str,
    claim: str,
    not_protected: str,
    simulated: bool,
    spends: Spent,
    notes: tuple[str, ...] = (),
) -> LedgerLine:
    """The line of a mechanism with a proof: ``claim`` says what holds for noise that nobody can reproduce.

    At ``"inf"`` the line says that there is no privacy, for seeded noise that it is a simulation.
    """
    if epsilon == INFINITE:
        statement = NO_PRIVACY
    elif simulated:
        statement = f"{SIMULATION} (drawn from the operating system's entropy it would be {claim})"
    else:
        statement = f"protected: {claim}"
    return LedgerLine(
        mechanism=mechanism,
        dataset=dataset,
        deployment_key=deployment_key,
        report_key=report_key,
        epsilon=epsilon,
        unit=unit,
        statement=statement,
        not_protected=not_protected,
        guarantee=epsilon != INFINITE and not simulated,
        simulated=simulated and epsilon != INFINITE,
        spends=tuple(spends.items()),
        notes=notes,
    )


def score_line(dataset: str) -> LedgerLine:
    """What the scores of a private data set say: no report, and in no total."""
    return LedgerLine(
        mechanism="scores on the test labels",
        dataset=dataset,
        deployment_key="scores",
        report_key=f"scores {dataset}",
        epsilon=INFINITE,
        unit="label",
        statement="no guarantee: scores are exact functions of the test labels, for split and predictions are public",
        not_protected="the test labels, from whoever reads the scores; `scores: false` in params.yaml leaves them out",
        guarantee=False,
        simulated=False,
        spends=(("labels", INFINITE),),
        declared_public=True,
    )


def fresh_report_key(rng: np.random.Generator, *parts: object) -> str:
    """A key for one draw: the hash of what was drawn (``parts``) and 32 bytes of the generator.

    Hashed, because the raw output of a generator says something about its next outputs.
    """
    return hashlib.sha256(repr([str(part) for part in parts]).encode() + rng.bytes(32)).hexdigest()[:32]
