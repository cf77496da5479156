"""Posterior probability of every reported relation, from its report bits and a degree prior.

The idea is that of Blink (Zhu, Tan and Xiao, CCS 2023): degrees are read off the same reports and tell how likely a
pair was before its own bits are looked at. No additional budget is spent.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, triu
from scipy.special import expit

from tasks.curator.calibration.loops import without_loops
from tasks.epsilon import INFINITE, epsilon_value
from tasks.reports.edge import EdgeReport


def bayes_soft_graph(report: EdgeReport) -> csr_array:
    """The posterior of every pair with at least one reported bit: float64 (N, N), symmetric, zero diagonal, sorted.

    Prior odds of the pair (i, j): T d_i d_j / (sum d)^2 with d the estimated degrees, shrunk and clipped to [1, N - 1],
    and T the unbiased estimate of their total; the sparse case of the model whose log odds are a sum of two node terms.
    Each of the c bits of a pair multiplies its odds by e^eps if it is one and by e^-eps if it is zero.

    Pairs of zeros alone are left out. Such a pair has posterior odds of e^(-c eps) times its prior odds, and all of
    them together hold E p^c true relations in expectation (Cora at 7: 0.004 of 5278 with two reports, 5 with one);
    storing them would make the graph dense.
    """
    bits, reporters = _bits(report)
    pairs = triu(bits, 1, format="coo")
    rows, columns = pairs.coords
    if report.epsilon == INFINITE:
        posterior = (pairs.data == reporters).astype(np.float64)
    else:
        estimates = degree_estimates(report)
        degrees = np.clip(_shrunk(estimates, report, reporters), 1.0, max(1.0, report.nodes - 1.0))
        # Clipping lifts the sum; the total itself is estimated well, so the prior keeps it.
        total = max(1.0, float(estimates.sum()))
        shares = np.log(degrees / degrees.sum())
        evidence = epsilon_value(report.epsilon) * (2.0 * pairs.data - reporters)
        posterior = expit(math.log(total) + shares[rows] + shares[columns] + evidence)
    upper = csr_array((posterior, (rows, columns)), shape=bits.shape)
    graph = csr_array(upper + upper.T)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def bayes_hard_graph(report: EdgeReport) -> csr_array:
    """The pairs whose posterior exceeds one half: int8 (N, N), the guess with the fewest wrong pairs in expectation."""
    graph = csr_array(bayes_soft_graph(report) > 0.5, dtype=np.int8)
    graph.sort_indices()
    return graph


def degree_estimates(report: EdgeReport) -> NDArray[np.float64]:
    """Unbiased estimates of the degrees, float64 (N,), neither clipped nor rounded.

    A node's N - 1 pairs carry c(N - 1) bits, of which c d q + c(N - 1 - d) p are ones in expectation: its own list and,
    in the directed modes, what the others say of it.
    """
    bits, reporters = _bits(report)
    flip = 0.0 if report.epsilon == INFINITE else float(expit(-epsilon_value(report.epsilon)))
    return (bits.sum(axis=1) / reporters - (report.nodes - 1) * flip) / (1 - 2 * flip)


def _shrunk(estimates: NDArray[np.float64], report: EdgeReport, reporters: int) -> NDArray[np.float64]:
    """The estimates pulled towards their mean by the share of their variance that is noise (James and Stein, 1961).

    Where noise hides the degrees the prior becomes the same for all pairs, instead of ruling out half of the nodes.
    """
    keep = float(expit(epsilon_value(report.epsilon)))
    noise = (report.nodes - 1) * keep * (1 - keep) / (2 * keep - 1) ** 2 / reporters
    spread = float(estimates.var())
    trust = max(0.0, 1 - noise / spread) if spread > 0 else 0.0
    mean = estimates.mean()
    return mean + trust * (estimates - mean)


def _bits(report: EdgeReport) -> tuple[csr_array, int]:
    """How many of the c bits of a pair are ones, float64 (N, N) symmetric without diagonal, and c."""
    graph = without_loops(report.adjacency())
    return (graph, 1) if report.mode == "pair" else (csr_array(graph + graph.T), 2)
