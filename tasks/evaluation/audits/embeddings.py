"""Audit of the embedding encoders: graphs of many kinds and sizes, whose embeddings differ in every row or in one.

What a graph sends is summarised by its likelihood ratio under the claimed law, next to the kind of embedding; by the
number of signs +1 in its first and in its last row; and by whether all signs agree with the one or the other embedding.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tasks.client.embedding_encoder import encode_embeddings
from tasks.evaluation.audits.case import AuditCase, Copies, gathered, joined
from tasks.evaluation.audits.features.inputs import STRONGEST, on_grid, population, sign_ratios, vector_pairs
from tasks.reports.embedding import EmbeddingReport, Encoder
from tasks.reports.embedding_budget import sampled_cells, vector_budget

CELLS_AT_ONCE = 200_000
ONE_SIGN = "0.1", 150_000_000
"""Budget and draws of a graph that sends a single sign, in clear or not."""


def embedding_cases() -> list[AuditCase]:
    """Every encoder that claims something; ``gaussian_scale`` claims nothing."""
    small = [_case("per_row", epsilon, 2, 2) for epsilon in ("0.5", "1", "2", "6", "1/n")]
    many = "the sharpest event, that nearly all of many signs agree, is rare"
    large = [_case("per_row", epsilon, 24, 2, 400_000, many) for epsilon in ("0.5", "1", "2")]
    rows = [_case("row", epsilon, nodes, 2) for epsilon in ("0.5", "1", "2") for nodes in (2, 48)]
    printed = [_case("paper", epsilon, 2, 2) for epsilon in ("1", "2", "4")]
    wide = [_case("per_row", "2", 1, 16), _case("per_row", "6", 1, 16), _case("paper", "2", 3, 5)]
    one_sign = replace(_case("paper", ONE_SIGN[0], 1, 1), sample=_single_signs, draws=ONE_SIGN[1])
    return [*small, *large, *rows, *printed, *wide, one_sign]


def _case(encoder: Encoder, epsilon: str, nodes: int, width: int, draws: int = 500_000, remark: str = "") -> AuditCase:
    line = reported(np.zeros((1, nodes, width)), encoder, epsilon, np.random.default_rng(0)).ledger
    # The line of ``paper`` states the printed budget; its words, and the law, say that a graph spends a share of it.
    budget = vector_budget(encoder, epsilon, nodes)
    claim = budget if encoder == "paper" else line.epsilon
    vectors, length = (1, nodes * width) if encoder == "paper" else (nodes, width)
    signs = sampled_cells(budget, length)
    rare = 1 / (1 + math.exp(float(budget) / signs))
    own, changed = (1 - rare) ** (vectors * signs), signs if encoder == "row" else vectors * signs
    reach = STRONGEST / (STRONGEST + 1)
    return AuditCase(
        line.mechanism,
        f"eps {epsilon}, {nodes} {'node' if nodes == 1 else 'nodes'}, {width} wide",
        line.unit,
        float(claim),
        partial(_outputs, encoder, epsilon, nodes, width),
        draws,
        remark,
        Copies(reach * own, reach * own * (rare / (1 - rare)) ** changed, reach),
    )


def embedding_pairs(encoder: Encoder, nodes: int, width: int) -> NDArray[np.float64]:
    """(kinds, 2, n, h): all cells change as in ``vector_pairs``, or (``row``) those of a first, last or middle row."""
    if encoder != "row":
        return vector_pairs(nodes * width).reshape(-1, 2, nodes, width)
    rows = vector_pairs(width)
    others = np.resize(np.array([1.0, 0.0, 0.0]), (nodes, width))
    everyone = np.broadcast_to(others, (len(rows), 2, nodes, width)).copy()
    kinds = np.arange(len(rows))
    place = np.array([0, nodes - 1, nodes // 2])[kinds % 3]
    everyone[kinds, :, place] = rows
    return everyone


def reported(
    embeddings: NDArray[np.float64], encoder: Encoder, epsilon: str, rng: np.random.Generator
) -> EmbeddingReport:
    """One report of graphs of one size, (G, n, h)."""
    return encode_embeddings(embeddings, encoder, epsilon, rng, True, dataset="audit")


def sent_cells(report: EmbeddingReport) -> NDArray[np.int64]:
    """What every graph of one size sends, (G, n, h): the signs, and 0 where nothing is sent."""
    cells = np.zeros((len(report.indptr) - 1, report.dimensions), dtype=np.int64)
    cells[np.repeat(np.arange(len(cells)), np.diff(report.indptr)), report.columns] = report.signs
    return cells.reshape(report.graphs, -1, report.dimensions)


def _single_signs(changed: bool, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    graphs = np.full((min(CELLS_AT_ONCE, draws), 1, 1), float(changed))
    return gathered(lambda: (reported(graphs, "paper", ONE_SIGN[0], rng).signs == 1).astype(np.int64), draws)


def _outputs(
    encoder: Encoder, epsilon: str, nodes: int, width: int, changed: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    pairs = embedding_pairs(encoder, nodes, width)
    kinds = population(len(pairs), min(draws, max(1, CELLS_AT_ONCE // (nodes * width))))
    budget = vector_budget(encoder, epsilon, nodes)
    share = float(budget) / sampled_cells(budget, nodes * width if encoder == "paper" else width)
    whole = float(budget) * (nodes if encoder == "per_row" else 1)
    flat = pairs.reshape(len(pairs), 2, -1)
    ratios, expected = sign_ratios(flat, share), np.where(flat > 0.5, 1, -1)

    def views() -> NDArray[np.int64]:
        cells = sent_cells(reported(pairs[kinds, int(changed)], encoder, epsilon, rng))
        sent = cells.reshape(len(kinds), -1)
        seen = np.where(sent == 0, 0.0, ratios[kinds[:, None], np.arange(sent.shape[1]), (sent > 0).astype(np.int64)])
        agree = [((sent == 0) | (sent == expected[kinds, side])).all(axis=1) for side in (0, 1)]
        kind, strongest = (kinds, len(pairs)), kinds < STRONGEST
        plus = (cells > 0).sum(axis=2)
        return np.array(
            [
                joined(kind, on_grid(seen.sum(axis=1), whole)),
                joined((strongest, 2), *((strongest & side, 2) for side in agree)),
                joined(kind, (np.abs(cells[:, 0]).argmax(axis=1), width), (plus[:, 0], 3)),
                joined(kind, (np.abs(cells[:, -1]).argmax(axis=1), width), (plus[:, -1], 3)),
            ]
        )

    return gathered(views, draws)
