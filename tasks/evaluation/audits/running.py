"""Runs audits: the same judgement for the project's mechanisms and for deliberately wrong ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.evaluation.audits.case import AuditCase
from tasks.evaluation.audits.deployments import composed_cases
from tasks.evaluation.audits.embedding_neighbours import few_graphs_cases
from tasks.evaluation.audits.embeddings import embedding_cases
from tasks.evaluation.audits.features.neighbours import neighbour_cases
from tasks.evaluation.audits.features.vectors import feature_cases
from tasks.evaluation.audits.fedwalk.encoder import encoder_cases
from tasks.evaluation.audits.fedwalk.lists import encoded_list_cases
from tasks.evaluation.audits.fedwalk.tree import tree_cases
from tasks.evaluation.audits.lists.neighbour_lists import list_cases
from tasks.evaluation.audits.lists.relations import relation_cases
from tasks.evaluation.audits.lower_bound import BOUNDING, PARTS, bounded, parted
from tasks.evaluation.audits.share_in_clear import smallest_share
from tasks.seeds import derive_seed, generator

CONFIDENCE = 0.999
FAST_DRAWS = 15_000
DRAWS_AT_ONCE = 400_000
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
        share_in_clear: the smallest share of users in clear that would have been caught, 1 where none would be.
        remark: why the lower bound stays well below the claim, if it does.
    """

    mechanism: str
    setting: str
    unit: str
    claim: float
    lower_bound: float
    draws: int
    confidence: float
    share_in_clear: float
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
        *relation_cases(),
        *feature_cases(),
        *neighbour_cases(),
        *composed_cases(),
        *embedding_cases(),
        *few_graphs_cases(),
        *tree_cases(),
        *encoder_cases(),
        *encoded_list_cases(),
    ]


def audited(cases: Sequence[AuditCase], seed: int, most_draws: int | None = None) -> Iterator[AuditRow]:
    """The rows of all cases, one after another; the confidence is shared among them and their views (Bonferroni).

    Args:
        cases: what to audit.
        seed: makes the draws; equal seeds give equal rows.
        most_draws: limit of the outputs per input, for a quick look.
    """
    for case in cases:
        draws = case.draws if most_draws is None else min(case.draws, most_draws)
        sides = [_counted(case, changed, draws, _noise(case, changed, seed)) for changed in (False, True)]
        risk = (1 - CONFIDENCE) / len(cases) / len(sides[0])
        bound = max(bounded(*_alike(first, second), risk)[0] for first, second in zip(*sides, strict=True))
        far = bound < NEAR * case.claim
        share = 1.0
        if case.copies is not None:
            share = smallest_share(case.claim, case.copies, parted(draws)[BOUNDING], risk)
        yield AuditRow(
            mechanism=case.mechanism,
            setting=case.setting,
            unit=case.unit,
            claim=case.claim,
            lower_bound=bound,
            draws=draws,
            confidence=CONFIDENCE,
            share_in_clear=share,
            remark=(case.remark or FEW_DRAWS) if far else "",
        )


def _counted(case: AuditCase, changed: bool, draws: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """For every view, int64 (3, outcomes): how often each outcome is drawn in each part."""
    views: list[NDArray[np.int64]] = []
    for number, part in enumerate(parted(draws)):
        for start in range(0, part, DRAWS_AT_ONCE):
            outcomes = np.atleast_2d(case.sample(changed, min(DRAWS_AT_ONCE, part - start), rng))
            views = views or [np.zeros((len(PARTS), 0), dtype=np.int64)] * len(outcomes)
            views = [_more(counts, number, view) for counts, view in zip(views, outcomes, strict=True)]
    return views


def _more(counts: NDArray[np.int64], part: int, outcomes: NDArray[np.int64]) -> NDArray[np.int64]:
    """``counts`` and the outcomes of some more draws of a part."""
    drawn = np.bincount(outcomes)[None, :]
    counts, drawn = _alike(counts, drawn)
    counts[part] += drawn[0]
    return counts


def _alike(first: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Copies of two counts of outcomes, the shorter one filled up with zeros."""
    width = max(first.shape[1], second.shape[1])
    first, second = (np.pad(counts, [(0, 0), (0, width - counts.shape[1])]) for counts in (first, second))
    return first, second


def _noise(case: AuditCase, changed: bool, seed: int) -> np.random.Generator:
    point = f"{case.setting}; {case.unit}"
    return generator(
        derive_seed(seed, study="audit", dataset=case.mechanism, point=point, repeat=int(changed), role="client/audit")
    )
