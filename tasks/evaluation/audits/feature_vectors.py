"""Audit of the multi-bit mechanism, alone and together with the neighbour list of the same user."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.client.multibit import encode_features
from tasks.evaluation.audits import neighbour_lists
from tasks.evaluation.audits.case import AuditCase, gathered
from tasks.reports.feature import FeatureReport
from tasks.reports.ledgers.composition import compose

USERS = 50_000
Bounds = tuple[float, float]
UNIT = "feature vector and one bit of the list"


def feature_cases() -> list[AuditCase]:
    """One sign in four dimensions, several signs at larger budgets, and other declared bounds."""
    small = [_case(epsilon, 4, (0.0, 1.0)) for epsilon in ("0.5", "1", "2", "4.4", "8.8")]
    return [*small, _case("1", 30, (0.0, 1.0)), _case("1", 4, (-2.0, 3.0))]


def composed_cases() -> list[AuditCase]:
    """One report of each kind by the same user: what the ledger calls a deployment."""
    return [_composed(*budgets) for budgets in (("0.5", "0.5"), ("1", "1"), ("0.5", "1.5"), ("2", "4"))]


def _case(epsilon: str, dimensions: int, bounds: Bounds) -> AuditCase:
    report = _reported(epsilon, dimensions, bounds, False, 1, np.random.default_rng(0))
    setting = f"eps_x {epsilon}, {report.sampled} of {dimensions} dimensions in [{bounds[0]:g}, {bounds[1]:g}]"
    sample = partial(vectors, epsilon, dimensions, bounds)
    return AuditCase(report.ledger.mechanism, setting, report.ledger.unit, float(report.ledger.epsilon), sample)


def _composed(eps_x: str, eps_a: str) -> AuditCase:
    claim = float(compose([eps_x, eps_a]))
    setting = f"eps_x {eps_x} + eps_a {eps_a}"
    return AuditCase("multi-bit + randomised response (directed)", setting, UNIT, claim, partial(_both, eps_x, eps_a))


def _reported(
    epsilon: str, dimensions: int, bounds: Bounds, changed: bool, users: int, rng: np.random.Generator
) -> FeatureReport:
    """Vectors at the one or the other end of the declared bounds: the two that lie furthest apart."""
    features = csr_array(np.full((users, dimensions), bounds[int(changed)]))
    return encode_features(features, bounds, epsilon, rng, True, dataset="audit")


def vectors(
    epsilon: str, dimensions: int, bounds: Bounds, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """All that a user sends, the (dimension, sign) pairs, as digits to base 2d."""

    def digits() -> NDArray[np.int64]:
        report = _reported(epsilon, dimensions, bounds, changed, min(USERS, draws), rng)
        pairs = 2 * report.dims.astype(np.int64) + (report.signs == 1)
        return pairs @ (2 * dimensions) ** np.arange(report.sampled)

    return gathered(digits, draws)


def _both(eps_x: str, eps_a: str, changed: bool, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    own_vector = vectors(eps_x, 4, (0.0, 1.0), changed, draws, rng)
    # The bit that differs is enough of the list here: the rest of it is audited by itself.
    return 2 * own_vector + neighbour_lists.bits(eps_a, "directed", changed, draws, rng) % 2
