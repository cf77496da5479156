"""Embeddings as the curator reads them from a report, with or without undoing the bias of the coins."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.reports.embedding import EmbeddingReport
from tasks.reports.embedding_budget import sampled_cells, vector_budget


def decoded(report: EmbeddingReport, *, rectify: bool = False) -> list[NDArray[np.float64]]:
    """One (n, h) array per graph, in the report's order.

    Args:
        report: what the clients sent.
        rectify: replace the signs by unbiased estimates of H. The source does not, and at small budgets the estimates
            are so large that every kernel value vanishes. Reports without coins are unbiased as they are.
    """
    bounds = np.concatenate([[0], np.cumsum(report.node_counts)])
    rows = report.values
    if report.coins:
        shape = (int(bounds[-1]), report.dimensions)
        rows = csr_array((report.signs.astype(np.float64), report.columns, report.indptr), shape=shape).toarray()
    parts = [rows[start:end] for start, end in itertools.pairwise(bounds)]
    if not (rectify and report.coins):
        return parts
    return [0.5 + rectifier_scale(report, len(part)) * part for part in parts]


def rectifier_scale(report: EmbeddingReport, nodes: int) -> float:
    """c with E[1/2 + c x*] = x for a graph of ``nodes`` nodes: cells / (2 m tanh(a/2)).

    A cell is sent with probability m/cells, and then E[x*] = (2x - 1) tanh(a/2), because
    (e^a - 1)/(e^a + 1) = tanh(a/2).
    """
    budget = vector_budget(report.encoder, report.epsilon, nodes)
    sampled = sampled_cells(budget, report.dimensions)
    cells = report.dimensions * (nodes if report.encoder == "paper" else 1)
    return cells / (2 * sampled * math.tanh(float(budget) / sampled / 2))
