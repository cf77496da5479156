"""What the encoder's law guarantees for one release, as numbers for the ledger; nothing is claimed for a walk."""

from __future__ import annotations

import math

import numpy as np

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.encoder import encoder_for
from tasks.epsilon import INFINITE, canonical_epsilon, epsilon_value


def normaliser_slack(tree: ClusterTree, epsilon: str) -> float:
    """max ln(Z_v / Z_v') over all pairs of vertices; 0 at ``"inf"``."""
    normaliser = encoder_for(tree, epsilon).normaliser
    return float(np.log(normaliser.max() / normaliser.min()))


def worst_release(tree: ClusterTree, epsilon: str) -> float:
    """Bound on ln(Q(x|v) / Q(x|v')) over all vertices v, v' and encodings x: epsilon * depth + slack."""
    if epsilon == INFINITE:
        return math.inf
    return epsilon_value(epsilon) * tree.depth + normaliser_slack(tree, epsilon)


def worst_release_budget(tree: ClusterTree, epsilon: str) -> str:
    """``worst_release`` as a canonical budget, rounded up to six decimals."""
    worst = worst_release(tree, epsilon)
    return INFINITE if math.isinf(worst) else canonical_epsilon(math.ceil(worst * 1e6) / 1e6)


def cost_of_replacing(release: float, degree: int) -> float:
    """One step of a walk from a list of ``degree`` neighbours, one of them replaced: ln(1 + (e^r - 1) / degree).

    The step's law is the mean of Q(. | u) over the list; a changed term moves the mean by at most
    (e^r - 1) / degree times the smallest possible mean.
    """
    return float(np.logaddexp(0.0, _log_expm1(release) - math.log(degree)))


def cost_of_adding(release: float, degree: int) -> float:
    """As ``cost_of_replacing``, for one neighbour more than ``degree``: ln(1 + (e^r - 1) / (degree + 1))."""
    return cost_of_replacing(release, degree + 1)


def _log_expm1(value: float) -> float:
    return value + math.log1p(-math.exp(-value)) if value > 0.0 else -math.inf
