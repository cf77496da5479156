"""Analyses of distances between graphs: nearest neighbours, a map in the plane, and their spread."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from tasks.errors import UserError

FOLDS = 10
PERPLEXITY = 30.0


def nearest_neighbour_accuracy(
    distances: NDArray[np.float64], labels: NDArray[np.int64], neighbours: int, seed: int, folds: int = FOLDS
) -> NDArray[np.float64]:
    """Accuracy of the k nearest neighbours in every fold of a stratified cross-validation, (folds,).

    Args:
        distances: (G, G).
        labels: int64 (G,).
        neighbours: k.
        seed: of the folds, so that settings are compared on the same ones.
        folds: how many.

    Raises:
        UserError: when a class has fewer graphs than folds, or there are fewer neighbours to ask than k.
    """
    rarest = int(np.unique(labels, return_counts=True)[1].min())
    if not 2 <= folds <= rarest:
        raise UserError(f"folds: {folds} is out of range; use 2 to {rarest}, the graphs of the rarest class")
    scores = []
    # Rows of zeros: the folds depend on the labels alone.
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros((len(labels), 1)), labels)
    for train, test in parts:
        if not 1 <= neighbours <= len(train):
            raise UserError(f"neighbours: {neighbours} is out of range; use 1 to {len(train)}")
        machine = KNeighborsClassifier(neighbours, metric="precomputed")
        machine.fit(distances[np.ix_(train, train)], labels[train])
        scores.append(float(machine.score(distances[np.ix_(test, train)], labels[test])))
    return np.array(scores)


def plane_map(distances: NDArray[np.float64], seed: int) -> NDArray[np.float32]:
    """t-SNE (van der Maaten & Hinton 2008) of the distances, (G, 2), for figures only.

    Args:
        distances: (G, G) discrepancies, whose roots are taken: t-SNE squares what it is given.
        seed: of the first positions.

    Raises:
        UserError: for fewer than four graphs.
    """
    graphs = len(distances)
    if graphs < 4:
        raise UserError(f"{graphs} graphs make no map; give four or more")
    perplexity = min(PERPLEXITY, (graphs - 1) / 3)
    tsne = TSNE(metric="precomputed", init="random", perplexity=perplexity, random_state=seed)
    return tsne.fit_transform(np.sqrt(distances)).astype(np.float32)


def pair_statistics(distances: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and standard deviation (over pairs) of the distances between different graphs.

    Raises:
        UserError: for fewer than two graphs.
    """
    if len(distances) < 2:
        raise UserError("one graph has no distance to another; give two or more")
    pairs = distances[np.triu_indices(len(distances), k=1)]
    return float(pairs.mean()), float(pairs.std())
