"""Edge inference with the curator's view: how well do the reports themselves tell edges from other pairs?

For public data sets alone: the outcome is judged by the true edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from tasks.curator.calibration.bayes import bayes_soft_graph, degree_estimates
from tasks.curator.calibration.mutual import mutual_graph
from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.attacks.pairs import PairSample
from tasks.evaluation.attacks.privacy import refuse_private
from tasks.evaluation.node_embedding.walk_recovery import recovery_from_lists
from tasks.reports.edge import EdgeReport


@dataclass(frozen=True)
class EdgeInference:
    """Outcome of the attack.

    Attributes:
        auc: by what the adversary ranks the pairs with: ``one list`` (A~_ij), ``both lists`` (A~_ij + A~_ji),
            ``mutual`` (both bits set) and ``bayes`` (the posterior).
        precision: share of true edges among the |E| pairs that most lists name: what is left of the attack where, as
            in life, nearly all pairs are no edges.
        base_rate: the same for blind guesses.
    """

    auc: dict[str, float]
    precision: float
    base_rate: float


def infer_edges(graph: RawGraph, report: EdgeReport, pairs: PairSample) -> EdgeInference:
    """The attack on one report of a directed mode.

    Raises:
        UserError: for a private data set, or in pair mode, where a relation has one report only.
    """
    refuse_private(graph.name, graph.private)
    if report.mode == "pair":
        raise UserError(f"{graph.name}: edge inference compares both ends' lists; use a directed mode")
    lists = report.adjacency()
    own, others = pairs.values(lists), pairs.values(lists.T.tocsr())
    scores = {
        "one list": own,
        "both lists": own + others,
        "mutual": pairs.values(mutual_graph(report)),
        "bayes": _posterior(report, pairs),
    }
    recovered = recovery_from_lists(report, graph.adjacency)
    return EdgeInference(
        auc={name: float(roc_auc_score(pairs.edge, score)) for name, score in scores.items()},
        precision=recovered.precision,
        base_rate=recovered.base_rate,
    )


def _posterior(report: EdgeReport, pairs: PairSample) -> NDArray[np.float64]:
    """The posterior; pairs that nobody named come after all others, by their degree prior (as shares below zero)."""
    posterior = pairs.values(bayes_soft_graph(report))
    degrees = np.clip(degree_estimates(report), 0.0, None)
    largest = max(float(degrees.max()), 1.0)
    prior = degrees[pairs.heads] * degrees[pairs.tails] / largest**2
    return np.where(posterior > 0, posterior, prior - 1.0)
