"""Audit of the embedding encoders on few graphs of several sizes: do one's signs depend on who it is, or on another's?

Every second graph changes as a whole; the next one's embedding stays as it is, half-way between the bounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tasks.client.embedding_encoder import encode_embeddings
from tasks.evaluation.audits.case import AuditCase, gathered, joined
from tasks.reports.embedding import EmbeddingReport

SIZES = np.tile(np.repeat([1, 2, 2, 5, 1, 3, 9, 1], 2), 4)
WIDTH, SUMS = 2, 9
EPSILON = "2"
DRAWS = 100_000


def few_graphs_cases() -> list[AuditCase]:
    """The default encoder."""
    line = _reported(False, np.random.default_rng(0)).ledger
    setting = f"eps {EPSILON}, {len(SIZES)} graphs of 1 to {SIZES.max()} nodes"
    return [AuditCase(line.mechanism, setting, line.unit, float(line.epsilon), _outputs, DRAWS)]


def _reported(changed: bool, rng: np.random.Generator) -> EmbeddingReport:
    graphs = [np.full((n, WIDTH), 0.5 if i % 2 else float(changed)) for i, n in enumerate(SIZES.tolist())]
    return encode_embeddings(graphs, "per_row", EPSILON, rng, True, dataset="audit")


def _sums(report: EmbeddingReport) -> NDArray[np.int64]:
    """(G,): every graph's signs, added up."""
    of_rows = np.bincount(
        np.repeat(np.arange(len(report.indptr) - 1), np.diff(report.indptr)), report.signs, len(report.indptr) - 1
    )
    return np.add.reduceat(of_rows, np.cumsum(SIZES) - SIZES).astype(np.int64)


def _outputs(changed: bool, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    number = np.arange(len(SIZES) // 2)

    def views() -> NDArray[np.int64]:
        sums = _sums(_reported(changed, rng))
        own, beside = ((sums[start::2] + SUMS, 2 * SUMS + 1) for start in (0, 1))
        return np.array([joined((number, len(number)), own), joined(own, beside)])

    return gathered(views, draws)
