"""Edge inference by an adversary who uses all that the curator holds: every report, and the labels in clear.

A pair's score is the logarithm of its odds: of the block model before the pair's own bits, and of the bits themselves.
The parts of the score alone are the baselines. For public data sets alone: judged by the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.attacks.block_model import BlockModel, fit_block_model
from tasks.evaluation.attacks.edge_evidence import EdgeEvidence, edge_evidence
from tasks.evaluation.attacks.pair_ranking import Ranking, rank_pairs
from tasks.evaluation.attacks.pairs import PairSample
from tasks.evaluation.attacks.privacy import refuse_private
from tasks.reports.edge import EdgeReport
from tasks.reports.label import LabelReport

Part = Callable[[BlockModel, EdgeEvidence, slice], NDArray[np.float64]]


def _degrees(model: BlockModel, _: EdgeEvidence, rows: slice) -> NDArray[np.float64]:
    return np.log(model.by_degree(rows))


def _classes(model: BlockModel, _: EdgeEvidence, rows: slice) -> NDArray[np.float64]:
    return np.log(model.by_class(rows))


def _bits(_: BlockModel, evidence: EdgeEvidence, rows: slice) -> NDArray[np.float64]:
    return evidence.ratios[evidence.ones[rows]]


READINGS: dict[str, tuple[Part, ...]] = {
    "degrees": (_degrees,),
    "classes": (_classes,),
    "classes and degrees": (_classes, _degrees),
    "bits": (_bits,),
    "bits, classes and degrees": (_bits, _classes, _degrees),
}
"""What pairs are ranked by: the baselines, then what the bits add."""


def infer_informed(
    graph: RawGraph, reports: Sequence[EdgeReport], labels: LabelReport, pairs: PairSample
) -> dict[str, Ranking]:
    """The attack on independent reports of one graph, by reading.

    Args:
        graph: the truth, public.
        reports: of all repeats that the adversary has; their log likelihood ratios add up.
        labels: those that the curator holds.
        pairs: what the AUC is taken over.

    Raises:
        UserError: for a private data set, or reports that do not belong together.
    """
    refuse_private(graph.name, graph.private)
    evidence = edge_evidence(reports)
    if evidence.nodes != graph.nodes:
        raise UserError(f"{graph.name}: reports of {evidence.nodes} nodes for {graph.nodes}")
    model = fit_block_model(evidence, labels)

    def ranked(parts: tuple[Part, ...]) -> Ranking:
        def scores(rows: slice) -> NDArray[np.float64]:
            return np.sum([part(model, evidence, rows) for part in parts], axis=0)

        return rank_pairs(graph, scores, pairs)

    return {reading: ranked(parts) for reading, parts in READINGS.items()}
