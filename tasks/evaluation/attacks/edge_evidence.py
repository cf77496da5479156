"""What independent reports of the same neighbour lists say of every pair: log likelihood ratios, which add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tasks.curator.calibration.loops import without_loops
from tasks.epsilon import INFINITE, epsilon_value
from tasks.errors import UserError
from tasks.reports.edge import EdgeReport

CERTAIN = 30.0
"""Stands for an infinite budget: odds of 10^13 a bit."""


@dataclass(frozen=True, eq=False)
class EdgeEvidence:
    """The bits of every pair.

    Attributes:
        ones: uint8 (N, N), symmetric with a zero diagonal: how many of a pair's bits are ones, all reports together.
        bits: bits of a pair: one a report in pair mode, else two.
        epsilon: budget of a bit.
    """

    ones: NDArray[np.uint8]
    bits: int
    epsilon: float

    @property
    def nodes(self) -> int:
        """N."""
        return len(self.ones)

    @property
    def ratios(self) -> NDArray[np.float64]:
        """(bits + 1,): log P(bits | edge) / P(bits | no edge), by the number of ones."""
        ones = np.arange(self.bits + 1, dtype=np.float64)
        return self.epsilon * (2 * ones - self.bits)

    @property
    def estimates(self) -> NDArray[np.float64]:
        """(bits + 1,): unbiased estimate of the pair's entry, by the number of ones."""
        flip = float(expit(-self.epsilon))
        found: NDArray[np.float64] = (np.arange(self.bits + 1) / self.bits - flip) / (1 - 2 * flip)
        return found

    @property
    def variance(self) -> float:
        """Of such an estimate, the same for an edge and another pair."""
        flip = float(expit(-self.epsilon))
        return flip * (1 - flip) / (1 - 2 * flip) ** 2 / self.bits


def edge_evidence(reports: Sequence[EdgeReport]) -> EdgeEvidence:
    """The evidence of reports of one graph with fresh noise each; memory: N^2 bytes, twice.

    Raises:
        UserError: for reports of different graphs, modes or budgets, or more than 127.
    """
    kinds = {(report.nodes, report.mode, report.epsilon) for report in reports}
    if len(kinds) != 1 or len(reports) > 127:
        raise UserError("edge evidence: at most 127 reports of one graph in one mode at one budget are needed")
    ((nodes, mode, epsilon),) = kinds
    ones = np.zeros((nodes, nodes), dtype=np.uint8)
    for report in reports:
        ones[without_loops(report.adjacency()).nonzero()] += 1
    if mode != "pair":
        ones = ones + ones.T
    bits = len(reports) * (1 if mode == "pair" else 2)
    return EdgeEvidence(ones, bits, CERTAIN if epsilon == INFINITE else min(epsilon_value(epsilon), CERTAIN))
