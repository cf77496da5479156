"""Audit of the multi-bit mechanism on few users: whether one's signs depend on who it is, or on another's.

Every second user, a subject, changes its vector from one bound to the other; between them sit others, whose vectors
stay as they are, inside the bounds, where a sign shows most of its noise.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from tasks.evaluation.audits.case import AuditCase, gathered, joined
from tasks.evaluation.audits.features.vectors import UNIT_BOUNDS, reported
from tasks.seeds import generator

USERS, DIMENSIONS = 128, 4
SCOUTS = 1024
"""Reports that are drawn, and counted nowhere, to find the other user whose signs go along with a subject's."""


def neighbour_cases() -> list[AuditCase]:
    """One sign, and two."""
    return [_case(epsilon) for epsilon in ("1", "4.4")]


def _case(epsilon: str) -> AuditCase:
    line = reported(np.zeros((1, DIMENSIONS)), epsilon, UNIT_BOUNDS, np.random.default_rng(0)).ledger
    setting = f"eps_x {epsilon}, {USERS} users"
    return AuditCase(line.mechanism, setting, line.unit, float(line.epsilon), partial(_outputs, epsilon), 200_000)


def _places(changed: bool) -> NDArray[np.float64]:
    """(users, d): the subjects are the users 0, 3, 4, 7, 8, ...: the first, the last, and both parities."""
    inner = np.linspace(0.3, 0.7, USERS)
    subject = np.isin(np.arange(USERS) % 4, (0, 3))
    return np.repeat(np.where(subject, float(changed), inner)[:, None], DIMENSIONS, axis=1)


def _drawn(epsilon: str, changed: bool, reports: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Sums of signs and first dimensions, (reports, users) each."""
    drawn = [reported(_places(changed), epsilon, UNIT_BOUNDS, rng) for _ in range(reports)]
    return np.array([r.signs.sum(axis=1) for r in drawn]), np.array([r.dims[:, 0] for r in drawn])


@lru_cache(maxsize=1)
def _companions(epsilon: str) -> NDArray[np.int64]:
    """For every subject another user of its own: together, those whose signs are most correlated with the subjects'."""
    signs = _drawn(epsilon, False, SCOUTS, generator(SCOUTS))[0].astype(float)
    centred = signs - signs.mean(axis=0)
    centred /= np.sqrt((centred**2).sum(axis=0)) + 1e-9
    subjects, others = _parts()
    return others[linear_sum_assignment(-np.abs(centred[:, subjects].T @ centred[:, others]))[1]]


def _parts() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    subject = np.isin(np.arange(USERS) % 4, (0, 3))
    return np.flatnonzero(subject), np.flatnonzero(~subject)


def _outputs(epsilon: str, changed: bool, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    subjects, others = _parts()
    companions = _companions(epsilon)
    needed = -(-draws // len(subjects))

    def views() -> NDArray[np.int64]:
        signs, dims = _drawn(epsilon, changed, min(needed, 512), rng)
        sampled = reported(_places(changed)[:1], epsilon, UNIT_BOUNDS, rng).sampled
        own, size = signs[:, subjects] + sampled, 2 * sampled + 1
        beside = signs[:, others] + sampled
        together = dims[:, subjects] == dims[:, companions]
        found = [
            joined((np.arange(len(subjects)), len(subjects)), (own, size)),
            joined((signs[:, companions] + sampled, size), (own, size)),
            joined((together, 2), (signs[:, companions] + sampled, size), (own, size)),
            joined((np.arange(len(others)), len(others)), (beside, size)),
            joined((dims[:, subjects], DIMENSIONS), (dims[:, others], DIMENSIONS), (own, size)),
        ]
        return np.array([view.ravel() for view in found])

    return gathered(views, draws)
