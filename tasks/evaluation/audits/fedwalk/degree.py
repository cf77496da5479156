"""Audit of noisy degrees: devices with few and with many neighbours, of whom one more or less is in the list.

A degree is summarised by its distance from the true one, next to what that is and to who sent it; by the parity of the
distance; and by the noise of the next device, whose list stays as it is.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tasks.client.fedwalk.degree import release_degrees
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.evaluation.audits.case import AuditCase, Copies, around, gathered, joined
from tasks.reports.fedwalk.degree import DegreeReport

DEGREES = np.array([0, 1, 2, 7, 30, 60, 120, 250])
"""Of every second device, in turn, before one neighbour is added; each kind has a device with the degree beside it."""
DEVICES, DEVICES_AT_ONCE = 48, 20_000
WIDTH = 24
"""Noise up to this far from 0 is told apart."""
ONE_NUMBER = "0.1", 16_000_000
"""Budget and draws where some degrees carry no noise: no noise is common, and only many draws show more of it."""


def degree_cases() -> list[AuditCase]:
    """Many devices, few of them, and very many draws of one degree."""
    few = [_case(epsilon, DEVICES, 100_000) for epsilon in ("0.5", "2")]
    return [
        *(_case(epsilon, DEVICES_AT_ONCE, 400_000) for epsilon in ("0.5", "1", "2")),
        *few,
        _case(ONE_NUMBER[0], DEVICES_AT_ONCE, ONE_NUMBER[1]),
    ]


def lists_of_lengths(degrees: NDArray[np.int64]) -> NeighbourLists:
    """Every device with as many neighbours as said: the first vertices."""
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    return NeighbourLists(indptr, (np.arange(indptr[-1]) - np.repeat(indptr[:-1], degrees)).astype(np.int32))


def reported_degrees(lists: NeighbourLists, epsilon: str, rng: np.random.Generator) -> DegreeReport:
    """One report of the real mechanism."""
    return release_degrees(lists, epsilon, rng, dataset="audit", simulated=True)


def noise_zero(epsilon: float) -> float:
    """Probability that discrete Laplace noise of this rate is 0."""
    return math.tanh(epsilon / 2)


def _case(epsilon: str, devices: int, draws: int) -> AuditCase:
    line = reported_degrees(lists_of_lengths(np.zeros(2, dtype=np.int64)), epsilon, np.random.default_rng(0)).ledger
    zero = noise_zero(float(epsilon))
    return AuditCase(
        line.mechanism,
        f"eps_degree {epsilon}, {devices} devices",
        line.unit,
        float(line.epsilon),
        partial(_outputs, epsilon, devices),
        draws,
        copies=Copies(zero, zero * math.exp(-float(epsilon))),
    )


def _outputs(epsilon: str, devices: int, changed: bool, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    degrees = np.repeat(np.resize(DEGREES, devices // 2), 2)
    degrees[::2] += changed
    before = degrees[::2] - changed
    lists, kind = lists_of_lengths(degrees), np.arange(devices // 2) % len(DEGREES)

    def views() -> NDArray[np.int64]:
        sent = reported_degrees(lists, epsilon, rng).degrees
        own, beside = sent[::2] - before, sent[1::2] - degrees[1::2]
        side = own + 1, 4
        place = np.minimum(np.arange(len(own)), DEVICES), DEVICES + 1
        found = [
            joined(side),
            joined(around(own, WIDTH)),
            joined((kind, len(DEGREES)), around(own, WIDTH)),
            joined(place, side),
        ]
        found += [joined(around(beside, 6), around(own, 6)), joined((own == beside, 2), (own == beside + 1, 2), side)]
        return np.array([*found, joined((own % 2, 2), side), joined((own % 5, 5), side)])

    return gathered(views, draws)
