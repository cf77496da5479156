"""How a reported graph compares with the true one. It needs the raw graph."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, triu

from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.reports.edge import EdgeReport


def noise_edges(graph: RawGraph, report: EdgeReport) -> int:
    """Reported ones that are zeros of the true lists; expected (bits - E) p.

    Directed modes count directed entries, pair mode counts pairs. Together with the report it gives the exact edge
    count away, so it exists for public sets only.

    Raises:
        UserError: for a private data set, or a report on another number of nodes.
    """
    if graph.private:
        raise UserError(f"{graph.name}: noise_edges gives the edge count away and is not computed for private sets")
    if graph.nodes != report.nodes:
        raise UserError(f"{graph.name}: the report has {report.nodes} nodes and the graph {graph.nodes}")
    truth = csr_array(triu(graph.adjacency, 1)) if report.mode == "pair" else graph.adjacency
    data = np.ones(len(report.indices), dtype=np.int8)
    reported = csr_array((data, report.indices, report.indptr), shape=graph.adjacency.shape)
    return int(reported.nnz - reported.multiply(truth).count_nonzero())


def mean_degree(report: EdgeReport) -> float:
    """Mean row sum of the reported graph (the source's 6.35 on Cora at 7.0); pair mode counts both ends."""
    both_ends = 2 if report.mode == "pair" else 1
    return both_ends * len(report.indices) / report.nodes
