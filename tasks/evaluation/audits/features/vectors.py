"""Audit of the multi-bit mechanism: vectors of many kinds, few users whose signs may hang together, and many draws.

A user's (dimension, sign) pairs are summarised by their likelihood ratio under the claimed law, next to the kind of
vector; by the first pair and the last one; by the number of signs +1.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.client.multibit import encode_features, sampled_dimensions
from tasks.evaluation.audits.case import AuditCase, Copies, gathered, joined
from tasks.evaluation.audits.features.inputs import on_grid, population, sign_ratios, vector_pairs
from tasks.reports.feature import FeatureReport

USERS = 50_000
Bounds = tuple[float, float]
UNIT_BOUNDS = (0.0, 1.0)
ONE_SIGN_DRAWS = {"0.1": 100_000_000, "0.5": 110_000_000}
"""A user in clear sends one sign like everybody: only very many draws show that some signs carry no noise."""


def feature_cases() -> list[AuditCase]:
    """One sign in four or thirty dimensions, several signs at larger budgets, other bounds, and a single dimension."""
    small = [_case(epsilon, 4) for epsilon in ("0.5", "1", "2", "4.4", "8.8")]
    wide = [_case("1", 30), _case("2", 30), _case("6.6", 30), _case("1", 4, (-2.0, 3.0))]
    return [*small, *wide, *(_one_sign_case(epsilon, draws) for epsilon, draws in ONE_SIGN_DRAWS.items())]


def _case(epsilon: str, dimensions: int, bounds: Bounds = UNIT_BOUNDS) -> AuditCase:
    line = reported(np.zeros((1, dimensions)), epsilon, bounds, np.random.default_rng(0)).ledger
    setting = f"eps_x {epsilon}, {sampled_dimensions(epsilon, dimensions)} of {dimensions} dimensions"
    return AuditCase(
        line.mechanism,
        f"{setting} in [{bounds[0]:g}, {bounds[1]:g}]",
        line.unit,
        float(line.epsilon),
        partial(vectors, epsilon, dimensions, bounds),
    )


def _one_sign_case(epsilon: str, draws: int) -> AuditCase:
    line = reported(np.zeros((1, 1)), epsilon, UNIT_BOUNDS, np.random.default_rng(0)).ledger
    rare = 1 / (1 + math.exp(float(epsilon)))
    setting = f"eps_x {epsilon}, a single dimension"
    sample = partial(_signs, epsilon)
    copies = Copies(1 - rare, rare)
    return AuditCase(line.mechanism, setting, line.unit, float(line.epsilon), sample, draws, copies=copies)


def reported(places: NDArray[np.float64], epsilon: str, bounds: Bounds, rng: np.random.Generator) -> FeatureReport:
    """One report of the real mechanism, of vectors that are given as places between the bounds."""
    low, high = bounds
    values = csr_array(np.clip(low + places * (high - low), low, high))
    return encode_features(values, bounds, epsilon, rng, True, dataset="audit")


def vectors(
    epsilon: str, dimensions: int, bounds: Bounds, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Users of all kinds, in the views that the module names."""
    pairs = vector_pairs(dimensions)
    kinds = population(len(pairs), min(USERS, draws))
    places, budget = pairs[kinds, int(changed)], float(epsilon)

    def views() -> NDArray[np.int64]:
        report = reported(places, epsilon, bounds, rng)
        kind, plus = (kinds, len(pairs)), report.signs == 1
        ratios = sign_ratios(pairs, budget / report.sampled)
        seen = ratios[kinds[:, None], report.dims, plus.astype(np.int64)].sum(axis=1)
        ends = [joined(kind, (report.dims[:, end], dimensions), (plus[:, end], 2)) for end in (0, -1)]
        total = joined(kind, (plus.sum(axis=1), report.sampled + 1))
        return np.array([joined(kind, on_grid(seen, budget)), *ends, total])

    return gathered(views, draws)


def _signs(epsilon: str, changed: bool, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    places = np.full((min(4 * USERS, draws), 1), float(changed))
    return gathered(lambda: (reported(places, epsilon, UNIT_BOUNDS, rng).signs == 1).ravel(), draws)
