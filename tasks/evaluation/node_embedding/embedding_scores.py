"""How well an embedding predicts label sets: one-vs-rest logistic regression by training ratio.

Two protocols, always both. ``top_k`` gives a node as many labels as it truly has (DeepWalk's protocol: it uses the
truth of the test nodes); ``threshold`` gives it those with probability of one half or more, which anybody could do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.errors import UserError
from tasks.evaluation.node_embedding.one_vs_rest import fit_one_vs_rest


@dataclass(frozen=True)
class EmbeddingScore:
    """F1 of one training ratio, split and protocol.

    Attributes:
        train_ratio: share of the labelled nodes that is trained on.
        split: number of the split.
        scoring: ``"top_k"`` or ``"threshold"``.
        micro_f1, macro_f1: in [0, 1], over the test nodes and all labels.
    """

    train_ratio: float
    split: int
    scoring: str
    micro_f1: float
    macro_f1: float


def embedding_scores(
    embedding: NDArray[np.float32],
    label_sets: csr_array,
    train_ratios: Sequence[float],
    rng: np.random.Generator,
    *,
    splits: int = 10,
) -> tuple[EmbeddingScore, ...]:
    """Scores at every ratio, split and protocol, in this order.

    Args:
        embedding: (V, d).
        label_sets: (V, L) of zeros and ones; vertices without a label are left out.
        train_ratios: shares, each strictly between 0 and 1.
        rng: draws one order of the vertices a split; every ratio trains on a beginning of it.
        splits: number of orders.

    Raises:
        UserError: when a ratio leaves no node to train or to test on, or shapes differ.
    """
    if embedding.shape[0] != label_sets.shape[0]:
        raise UserError(f"scoring: {embedding.shape[0]} vectors for {label_sets.shape[0]} label sets")
    labels = label_sets.toarray().astype(bool)
    labelled = np.flatnonzero(labels.any(axis=1))
    sizes = {ratio: round(ratio * len(labelled)) for ratio in train_ratios}
    for ratio, size in sizes.items():
        if not 0 < size < len(labelled):
            raise UserError(
                f"train_ratios: {ratio} of {len(labelled)} labelled nodes leaves none to train or to test; "
                "take a ratio nearer to 0.5"
            )
    orders = [rng.permutation(labelled) for _ in range(splits)]
    scores = []
    for ratio, size in sizes.items():
        for split, order in enumerate(orders):
            train, test = order[:size], order[size:]
            likely = label_probabilities(embedding[train], labels[train], embedding[test])
            guesses = {"top_k": most_likely(likely, labels[test].sum(axis=1)), "threshold": likely >= 0.5}
            for scoring, guess in guesses.items():
                scores.append(EmbeddingScore(ratio, split, scoring, *f1(labels[test], guess)))
    return tuple(scores)


def label_probabilities(
    train: NDArray[np.float32], labels: NDArray[np.bool_], test: NDArray[np.float32]
) -> NDArray[np.float64]:
    """One logistic regression a label, C = 1; float64 (test, L). A label with one class in training is constant."""
    likely = np.repeat(labels[:1].astype(np.float64), len(test), axis=0)
    mixed = labels.any(axis=0) & ~labels.all(axis=0)
    if mixed.any():
        likely[:, mixed] = fit_one_vs_rest(train, labels[:, mixed]).probabilities(test)
    return likely


def f1(truth: NDArray[np.bool_], guess: NDArray[np.bool_]) -> tuple[float, float]:
    """Micro- and macro-F1; 0 for a label that is neither there nor guessed."""
    hits = (truth & guess).sum(axis=0)
    named = truth.sum(axis=0) + guess.sum(axis=0)
    return float(2 * hits.sum() / max(named.sum(), 1)), float(np.mean(2 * hits / np.maximum(named, 1)))


def most_likely(likely: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The ``counts[i]`` most likely labels of row i; ties go to the lower label."""
    places = np.argsort(np.argsort(-likely, axis=1, kind="stable"), axis=1, kind="stable")
    return places < counts[:, None]
