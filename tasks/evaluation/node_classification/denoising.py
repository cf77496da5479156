"""What a calibration did to the true and the false edges of a report. It needs the raw graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from sklearn.metrics import roc_auc_score

from tasks.curator.calibration.loops import without_loops
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.reports.edge import EdgeReport


@dataclass(frozen=True)
class Denoising:
    """Counts are directed entries off the diagonal: a relation that both ends report is two.

    Attributes:
        auc: probability that a reported true entry outweighs a reported false one, ties by half; 0.5 tells nothing.
            None when the report holds only one of the two kinds.
        true_kept, false_kept: entries with a positive weight.
        true_lost: true entries without one, those that were never reported included.
        false_removed: reported false entries without one.
    """

    auc: float | None
    true_kept: int
    true_lost: int
    false_kept: int
    false_removed: int


def denoising(
    graph: RawGraph, report: EdgeReport, calibrated: csr_array, nodes: NDArray[np.int64] | None = None
) -> Denoising:
    """Compares calibrated weights (N, N) with the truth, on and beyond the reported entries.

    With ``nodes`` only the lists of these nodes count: a method that learns from training labels knows more about the
    training nodes' lists than about others.

    Raises:
        UserError: for a private data set (the counts give its edges away), or when sizes differ.
    """
    if graph.private:
        raise UserError(f"{graph.name}: true and false edges are told apart for public sets only")
    if not graph.nodes == report.nodes == calibrated.shape[0]:
        raise UserError(
            f"{graph.name}: graph, report and calibrated graph have {graph.nodes}, {report.nodes} and "
            f"{calibrated.shape[0]} nodes"
        )
    counted = np.zeros(graph.nodes)
    counted[slice(None) if nodes is None else nodes] = 1.0
    lists = diags_array(counted)
    weights = without_loops(csr_array(lists @ calibrated))
    reported = without_loops(csr_array(lists @ report.adjacency())).tocoo()
    edges = int((lists @ graph.adjacency).count_nonzero())
    truth = graph.adjacency[reported.coords] > 0
    weight = weights[reported.coords]
    true_kept = int(weights.multiply(graph.adjacency).count_nonzero())
    mixed = truth.any() and not truth.all()
    return Denoising(
        auc=float(roc_auc_score(truth, weight)) if mixed else None,
        true_kept=true_kept,
        true_lost=edges - true_kept,
        false_kept=weights.nnz - true_kept,
        false_removed=int((weight[~truth] == 0).sum()),
    )
