"""Membership by kernel: is a graph among those whose protected embeddings make up a published kernel?

The adversary has the candidate's raw graph and the broadcast weights, so its exact embedding. He compares it with every
published one by the kernel's own discrepancy (``nearest_published``) or, if he knows the order of its nodes as well, by
the law of the coins (``likeliest_published``), the stronger attack. For public data sets alone: judged by the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from tasks.curator.embeddings import decoded
from tasks.curator.gromov.blocks import solve_block
from tasks.curator.gromov.packing import pack
from tasks.curator.kernels.distances import embedding_distances
from tasks.errors import UserError
from tasks.reports.embedding import EmbeddingReport
from tasks.reports.embedding_budget import sampled_cells, vector_budget

Embeddings = Sequence[NDArray[np.float64]]


def nearest_published(
    candidates: Embeddings, report: EmbeddingReport, members: NDArray[np.int64], *, seed: int = 0, threads: int = 1
) -> NDArray[np.float64]:
    """(G,) Gromov-Wasserstein discrepancy of each candidate to the nearest of the members' reports, negated.

    Coins change the scale of an embedding, so every graph's distances are divided by their mean.

    Args:
        candidates: the exact embedding (n, h) of each of G graphs.
        report: what was published.
        members: the graphs of the report that make up the kernel.
        seed, threads: of the solver.
    """
    received = decoded(report)
    published = [received[member] for member in members]
    packed = pack([_unit_distances(rows) for rows in (*candidates, *published)])
    first, second = np.meshgrid(np.arange(len(candidates)), len(candidates) + np.arange(len(published)), indexing="ij")
    pairs = np.stack([first.ravel(), second.ravel()], axis=1).astype(np.int64)
    solved = solve_block(packed, pairs, seed=seed, threads=threads)
    return -solved.values.reshape(len(candidates), len(published)).min(axis=1)


def likeliest_published(
    candidates: Embeddings, report: EmbeddingReport, members: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(G,) largest log likelihood ratio of a member's report under the candidate against the candidates' mean row.

    Only reports of as many nodes are compared; without one the ratio is minus infinity. Without coins, minus the
    largest absolute difference.

    Raises:
        UserError: for ``gaussian_scale`` and ``paper``, whose law this is not.
    """
    if report.encoder not in ("per_row", "row"):
        raise UserError(f"membership: the likelihood is that of per_row and row, not of {report.encoder}")
    received = decoded(report)
    average = np.concatenate(list(candidates)).mean(axis=0)
    found = np.full(len(candidates), -np.inf)
    for member in members:
        rows = received[member]
        alike = [number for number, exact in enumerate(candidates) if len(exact) == len(rows)]
        if not report.coins:
            for number in alike:
                found[number] = max(found[number], -float(np.abs(candidates[number] - rows).max()))
            continue
        bias = _bias(report, len(rows))
        null = _log_likelihood(rows, average, bias)
        for number in alike:
            found[number] = max(found[number], _log_likelihood(rows, candidates[number], bias) - null)
    return found


def same_size_published(
    candidates: Embeddings, report: EmbeddingReport, members: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(G,) the control: how many of the members have as many nodes as the candidate, which is public."""
    sizes = report.node_counts[members]
    return np.array([(sizes == len(exact)).sum() for exact in candidates], dtype=np.float64)


def membership_auc(scores: NDArray[np.float64], member: NDArray[np.bool_]) -> float:
    """AUC of "the higher the score, the likelier a member".

    Raises:
        UserError: when all graphs are members, or none is.
    """
    if member.all() or not member.any():
        raise UserError("membership: some graphs must be members and others not")
    return float(roc_auc_score(member, np.maximum(scores, np.finfo(np.float64).min)))


def _unit_distances(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    distances = embedding_distances(rows)
    mean = distances.mean()
    return distances / mean if mean > 0 else distances


def _bias(report: EmbeddingReport, nodes: int) -> float:
    """tanh(a/2): a cell x is sent as +1 with probability 1/2 + (x - 1/2) tanh(a/2)."""
    budget = vector_budget(report.encoder, report.epsilon, nodes)
    return math.tanh(float(budget) / sampled_cells(budget, report.dimensions) / 2)


def _log_likelihood(signs: NDArray[np.float64], cells: NDArray[np.float64], bias: float) -> float:
    """Of the signs that were sent; 0 stands for a cell that was not, which happens whatever it holds."""
    chance = 0.5 + signs * bias * (cells - 0.5)
    return float(np.log(chance[signs != 0]).sum())
