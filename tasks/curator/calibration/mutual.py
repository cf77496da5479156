"""Mutual edges: a relation counts where both of its ends report it."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from tasks.curator.calibration.loops import without_loops
from tasks.errors import UserError
from tasks.reports.edge import EdgeReport


def mutual_graph(report: EdgeReport) -> csr_array:
    """A~ AND A~^T without the diagonal: int8 (N, N), symmetric, sorted.

    On a symmetric graph a true pair survives with q^2 and a false one with p^2 (q the probability that a bit is kept,
    p = 1 - q). It reads two reports per relation: a relation is then protected by 2 eps_a, not by eps_a.

    Raises:
        UserError: in pair mode, where every relation has one report only.
    """
    if report.mode == "pair":
        raise UserError("mutual: edge mode pair has one report per relation; use a directed mode, or bayes-hard")
    lists = without_loops(report.adjacency())
    both = csr_array(lists.multiply(lists.T), dtype=np.int8)
    both.sort_indices()
    return both
