"""The graphs that a network may run on, by the names that the table of methods has for them."""

from __future__ import annotations

from collections.abc import Callable

from scipy.sparse import csr_array

from tasks.curator.calibration.bayes import bayes_hard_graph, bayes_soft_graph
from tasks.curator.calibration.mutual import mutual_graph
from tasks.reports.edge import EdgeReport

GRAPHS: dict[str, Callable[[EdgeReport], csr_array]] = {
    "reported": EdgeReport.adjacency,
    "mutual": mutual_graph,
    "bayes-hard": bayes_hard_graph,
    "bayes-soft": bayes_soft_graph,
}
