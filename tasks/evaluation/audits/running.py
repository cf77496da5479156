"""Runs audits: the same judgement for the project's mechanisms and for deliberately wrong ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.evaluation.audits.case import AuditCase
from tasks.evaluation.audits.embeddings import embedding_cases
from tasks.evaluation.audits.feature_vectors import composed_cases, feature_cases
from tasks.evaluation.audits.fedwalk_encoder import encoder_cases
from tasks.evaluation.audits.fedwalk_tree import tree_cases
from tasks.evaluation.audits.lower_bound import audit_epsilon
from tasks.evaluation.audits.neighbour_lists import list_cases
from tasks.seeds import derive_seed, generator

CONFIDENCE = 0.999
FAST_DRAWS = 20_000
NEAR = 0.85
"""The share of a claim from which on its lower bound needs no remark."""
FEW_DRAWS = "more draws would show more"


@dataclass(frozen=True)
class AuditRow:
    """What an audit found.

    Attributes:
        mechanism, setting, unit: what was audited.
        claim: epsilon that the ledger states for this unit.
        lower_bound: the mechanism spends at least this.
        draws: outputs per input.
        confidence: that no lower bound of the whole audit is above the truth.
        remark: why the lower bound stays well below the claim, if it does.
    """

    mechanism: str
    setting: str
    unit: str
    claim: float
    lower_bound: float
    draws: int
    confidence: float
    remark: str

    @property
    def refuted(self) -> bool:
        """Whether the mechanism was seen to spend more than it claims."""
        return self.lower_bound > self.claim

    @property
    def seen(self) -> float:
        """The share of the claim that was seen spent."""
        return self.lower_bound / self.claim


def all_cases() -> list[AuditCase]:
    """Every mechanism and encoder with a guarantee, with every setting that is audited."""
    return [
        *list_cases(),
        *feature_cases(),
        *composed_cases(),
        *embedding_cases(),
        *tree_cases(),
        *encoder_cases(),
    ]


def audited(cases: Sequence[AuditCase], seed: int, most_draws: int | None = None) -> Iterator[AuditRow]:
    """The rows of all cases, one after another; the confidence is shared among them (Bonferroni).

    Args:
        cases: what to audit.
        seed: makes the draws; equal seeds give equal rows.
        most_draws: limit of the outputs per input, for a quick look.
    """
    for case in cases:
        draws = case.draws if most_draws is None else min(case.draws, most_draws)
        first, second = (case.sample(changed, draws, _noise(case, changed, seed)) for changed in (False, True))
        found = audit_epsilon(first, second, confidence=CONFIDENCE, mechanisms=len(cases))
        far = found.lower_bound < NEAR * case.claim
        yield AuditRow(
            mechanism=case.mechanism,
            setting=case.setting,
            unit=case.unit,
            claim=case.claim,
            lower_bound=found.lower_bound,
            draws=found.draws,
            confidence=found.confidence,
            remark=(case.remark or FEW_DRAWS) if far else "",
        )


def _noise(case: AuditCase, changed: bool, seed: int) -> np.random.Generator:
    point = f"{case.setting}; {case.unit}"
    return generator(
        derive_seed(seed, study="audit", dataset=case.mechanism, point=point, repeat=int(changed), role="client/audit")
    )
