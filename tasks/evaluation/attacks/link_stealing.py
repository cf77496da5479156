"""Link stealing from published posteriors (He et al., USENIX Security 2021, attack 0: target outputs alone).

Linked nodes get similar class probabilities. The similarity is fixed beforehand, never chosen by its outcome; the
control shows what comes from linked nodes being of one class. For public data sets alone: judged by the true edges.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from tasks.datasets.graph import RawGraph
from tasks.errors import UserError
from tasks.evaluation.attacks.pairs import PairSample
from tasks.evaluation.attacks.privacy import refuse_private

Similarity = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]


def cosine(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k,) cosines of the rows of two (k, C) matrices; 0 where a row is zero."""
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.divide((first * second).sum(axis=1), norms, out=np.zeros(len(first)), where=norms > 0)


def correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k,) Pearson correlations of the rows; 0 where a row is constant."""
    return cosine(first - first.mean(axis=1, keepdims=True), second - second.mean(axis=1, keepdims=True))


def closeness(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k,) Euclidean distances of the rows, negated."""
    return -np.linalg.norm(first - second, axis=1)


SIMILARITIES: dict[str, Similarity] = {"correlation": correlation, "cosine": cosine, "euclidean": closeness}


def steal_links(graph: RawGraph, log_probabilities: NDArray[np.float32], pairs: PairSample) -> dict[str, float]:
    """AUC by similarity.

    Args:
        graph: the truth, public.
        log_probabilities: (N, C), as published.
        pairs: what is judged.

    Raises:
        UserError: for a private data set, or posteriors of another number of nodes.
    """
    refuse_private(graph.name, graph.private)
    if len(log_probabilities) != graph.nodes:
        raise UserError(f"{graph.name}: posteriors of {len(log_probabilities)} nodes for {graph.nodes}")
    posteriors = np.exp(log_probabilities.astype(np.float64))
    first, second = posteriors[pairs.heads], posteriors[pairs.tails]
    return {name: float(roc_auc_score(pairs.edge, of(first, second))) for name, of in SIMILARITIES.items()}


def stolen_precision(graph: RawGraph, log_probabilities: NDArray[np.float32]) -> float:
    """Share of true edges among the |E| pairs of all whose posteriors correlate most.

    Pairs that tie for the last places share them evenly. Memory: 12 N^2 bytes.

    Raises:
        UserError: for a private data set.
    """
    refuse_private(graph.name, graph.private)
    posteriors = np.exp(log_probabilities.astype(np.float64))
    centred = posteriors - posteriors.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    units = np.divide(centred, lengths, out=np.zeros_like(centred), where=lengths > 0)
    upper = np.triu_indices(graph.nodes, 1)
    # Rounding makes a difference in the last digits between pairs that are equal.
    similar = (units @ units.T)[upper].round(9)
    edge = np.zeros((graph.nodes, graph.nodes), dtype=bool)
    edge[graph.adjacency.nonzero()] = True
    linked = edge[upper]
    last = np.partition(similar, len(similar) - graph.edges)[len(similar) - graph.edges]
    above, tied = similar > last, similar == last
    share = (graph.edges - above.sum()) / tied.sum()
    return float((linked[above].sum() + share * linked[tied].sum()) / graph.edges)


def class_control(graph: RawGraph, pairs: PairSample) -> float:
    """AUC of an adversary who knows the true classes and nothing of the graph: pairs of one class before others.

    Raises:
        UserError: for a private data set, or one without classes.
    """
    refuse_private(graph.name, graph.private)
    if graph.labels is None:
        raise UserError(f"{graph.name} has no classes for the control")
    same = graph.labels[pairs.heads] == graph.labels[pairs.tails]
    return float(roc_auc_score(pairs.edge, same & (graph.labels[pairs.heads] >= 0)))
