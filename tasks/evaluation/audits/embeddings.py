"""Audit of the embedding encoders on graphs whose embeddings differ in every row, or in one.

Small graphs are told apart by all that they send. A larger graph sends too much for that: its output is the number of
signs that agree with the first input, which is what their likelihood ratio depends on.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tasks.client.embedding_encoder import encode_embeddings
from tasks.evaluation.audits.case import AuditCase, gathered
from tasks.reports.embedding import EmbeddingReport, Encoder
from tasks.reports.embedding_budget import vector_budget

GRAPHS = 50_000
SMALL = 8
"""Cells of a graph up to which all that it sends is one outcome."""


def embedding_cases() -> list[AuditCase]:
    """Every encoder that claims something; ``gaussian_scale`` claims nothing."""
    per_row = [_case("per_row", epsilon, 2) for epsilon in ("0.5", "1", "2", "6", "1/n")]
    one_row = [_case("row", epsilon, 2) for epsilon in ("0.5", "1", "2")]
    as_printed = [_case("paper", epsilon, 2) for epsilon in ("1", "2", "4")]
    many = "the sharpest event, ten signs that agree, is rare: one graph in 400"
    return [*per_row, *one_row, *as_printed, _case("per_row", "2", 10, 1_000_000, many)]


def _case(encoder: Encoder, epsilon: str, nodes: int, draws: int = 500_000, remark: str = "") -> AuditCase:
    line = reported(_embedding(nodes, False, encoder), encoder, epsilon, 1, np.random.default_rng(0)).ledger
    # The line of ``paper`` states the printed budget; its words, and the law, say that a graph spends a share of it.
    claim = vector_budget("paper", epsilon, nodes) if encoder == "paper" else line.epsilon
    setting = f"eps {epsilon}, {nodes} nodes"
    sample = partial(_outputs, encoder, epsilon, nodes)
    return AuditCase(line.mechanism, setting, line.unit, float(claim), sample, draws, remark)


def _embedding(nodes: int, changed: bool, encoder: Encoder) -> NDArray[np.float64]:
    """(n, 2) at the corners of the simplex; for ``row`` one row changes, for the others all do."""
    rows = np.tile([1.0, 0.0], (nodes, 1))
    if changed:
        last = slice(-1, None) if encoder == "row" else slice(None)
        rows[last] = rows[last, ::-1]
    return rows


def reported(
    embedding: NDArray[np.float64], encoder: Encoder, epsilon: str, graphs: int, rng: np.random.Generator
) -> EmbeddingReport:
    """Many graphs with the same embedding."""
    return encode_embeddings([embedding] * graphs, encoder, epsilon, rng, True, dataset="audit")


def _outputs(
    encoder: Encoder, epsilon: str, nodes: int, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    embedding, unchanged = _embedding(nodes, changed, encoder), _embedding(nodes, False, encoder)
    return gathered(
        lambda: summarised(reported(embedding, encoder, epsilon, min(GRAPHS, draws), rng), unchanged), draws
    )


def summarised(report: EmbeddingReport, expected: NDArray[np.float64]) -> NDArray[np.int64]:
    """One integer per graph, (G,); ``expected`` (n, h) is the embedding whose agreeing signs are counted."""
    cells = np.zeros((len(report.indptr) - 1, report.dimensions), dtype=np.int64)
    cells[np.repeat(np.arange(len(cells)), np.diff(report.indptr)), report.columns] = report.signs
    sent = cells.reshape(report.graphs, -1)
    if expected.size <= SMALL:
        return (sent + 1) @ 3 ** np.arange(expected.size)
    return (sent == np.sign(expected.ravel() - 0.5)).sum(axis=1)
