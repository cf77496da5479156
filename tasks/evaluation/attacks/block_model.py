"""A degree-corrected block model of a reported graph, fitted with the labels that the curator holds.

Graphs are sparse, so the model speaks of odds: those of an edge between i of class k and j of class l are t_i t_j w_kl,
with degree factors t of mean one. Factors and densities w come from unbiased counts of the reports: of rows, and of
pairs of labelled nodes. Beliefs about the classes of the other nodes are those of belief propagation (Decelle et al.,
Phys. Rev. E 84, 2011): messages on the pairs whose bits say much, a mean field for all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import gamma

from tasks.evaluation.attacks.edge_evidence import EdgeEvidence
from tasks.reports.label import LabelReport

ROUNDS = 30
DAMPING = 0.3
SETTLED = 1e-3
INFORMATIVE = 0.05
"""A pair gets messages of its own where its bits raise the odds of an edge above this."""
LEAST_FACTOR, MOST_FACTOR, POINTS = 0.02, 100.0, 80
LEAST_DENSITY = 1e-5
BLOCK = 512


@dataclass(frozen=True, eq=False)
class BlockModel:
    """The fitted model.

    Attributes:
        factors: float64 (N,): t.
        densities: float64 (K, K), symmetric: w.
        beliefs: float64 (N, K): class probabilities; certain for labelled nodes.
        heads, tails: int64 (I,), heads below tails: the informative pairs.
        head_beliefs, tail_beliefs: float64 (I, K): what is believed of an end without the pair's own bits.
    """

    factors: NDArray[np.float64]
    densities: NDArray[np.float64]
    beliefs: NDArray[np.float64]
    heads: NDArray[np.int64]
    tails: NDArray[np.int64]
    head_beliefs: NDArray[np.float64]
    tail_beliefs: NDArray[np.float64]

    def by_class(self, rows: slice) -> NDArray[np.float64]:
        """(rows, N): the density that classes give a pair, without its own bits and without degrees."""
        found = self.beliefs[rows] @ self.densities @ self.beliefs.T
        here = slice(*np.searchsorted(self.heads, [rows.start, rows.stop]))
        own = np.einsum("ik,kl,il->i", self.head_beliefs[here], self.densities, self.tail_beliefs[here])
        found[self.heads[here] - rows.start, self.tails[here]] = own
        return found

    def by_degree(self, rows: slice) -> NDArray[np.float64]:
        """(rows, N): the product of the degree factors."""
        return self.factors[rows, None] * self.factors


def fit_block_model(evidence: EdgeEvidence, labels: LabelReport) -> BlockModel:
    """The model of one graph's evidence; memory: ``evidence``'s and some blocks of rows."""
    known, classes = _labelled(evidence.nodes, labels)
    factors = degree_factors(evidence)
    densities = block_densities(evidence, classes, labels.classes)
    likely = evidence.ratios + np.log(densities.max()) > np.log(INFORMATIVE)
    heads, tails = _pairs(evidence, likely)
    ratios = evidence.ratios[evidence.ones[heads, tails]]
    gain = np.exp(np.minimum(ratios, 50.0)) - 1
    source, target = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    back = np.roll(np.arange(2 * len(heads)), len(heads))
    linear = np.where(likely, 0.0, np.exp(np.minimum(evidence.ratios, 50.0)) - 1)

    counts = np.bincount(classes[known], minlength=labels.classes)
    prior = np.log((counts + 1) / (counts.sum() + labels.classes))
    certain = np.eye(labels.classes)[classes[known]]
    beliefs = np.tile(softmax(prior), (evidence.nodes, 1))
    beliefs[known] = certain
    messages = beliefs[source]
    fixed = known[source]
    for _ in range(ROUNDS):
        expected = np.minimum(messages @ densities * (factors[source] * factors[target])[:, None], 1.0)
        factor = np.log1p(expected * np.tile(gain, 2)[:, None])
        field = factors[:, None] * (_weighted(evidence, linear, factors[:, None] * beliefs) @ densities)
        total = prior + field
        for k in range(labels.classes):
            total[:, k] += np.bincount(target, factor[:, k], minlength=evidence.nodes)
        found = softmax(total, axis=1)
        found[known] = certain
        fresh = softmax(total[source] - factor[back], axis=1)
        fresh[fixed] = messages[fixed]
        messages = DAMPING * messages + (1 - DAMPING) * fresh
        moved, beliefs = np.abs(found - beliefs).max(), found
        if moved < SETTLED:
            break
    return BlockModel(factors, densities, beliefs, heads, tails, messages[: len(heads)], messages[len(heads) :])


def degree_factors(evidence: EdgeEvidence) -> NDArray[np.float64]:
    """(N,) posterior means of the factors: Gamma of mean one, given unbiased degrees with normal noise.

    The variance of the Gamma is that of the degrees over their squared mean, less the noise's and Poisson's.
    """
    degrees = np.concatenate([_lookup(evidence, rows, evidence.estimates).sum(axis=1) for rows in _blocks(evidence)])
    mean, noise = max(float(degrees.mean()), 0.5), (evidence.nodes - 1) * evidence.variance
    shape = mean**2 / max(float(degrees.var()) - noise - mean, 0.1 * mean**2)
    points = np.geomspace(LEAST_FACTOR, MOST_FACTOR, POINTS)
    spread = noise + mean * points
    prior = gamma(shape, scale=1 / shape).logpdf(points) + np.log(points)
    likelihood = -((degrees[:, None] - mean * points) ** 2) / (2 * spread) - np.log(spread) / 2
    return softmax(prior + likelihood, axis=1) @ points


def block_densities(evidence: EdgeEvidence, classes: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """(K, K) densities from unbiased counts of labelled pairs, each pulled towards the mean within or across classes.

    Args:
        evidence: the reports.
        classes: int64 (N,), -1 where unknown.
        count: K.
    """
    known = classes >= 0
    member = np.zeros((evidence.nodes, count))
    member[np.flatnonzero(known), classes[known]] = 1
    found = np.zeros((count, count))
    for rows in _blocks(evidence):
        found += member[rows].T @ (_lookup(evidence, rows, evidence.estimates) @ member)
    sizes = member.sum(axis=0)
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    within = np.eye(count, dtype=bool)
    means = [found[part].sum() / max(pairs[part].sum(), 1.0) for part in (within, ~within)]
    across = max(means[1], LEAST_DENSITY)
    expected = np.where(within, max(means[0], 1.05 * across), across) * pairs
    # A pair is in the sums of both ends' rows, so its noise counts twice, within a block four times in the variance.
    noise = pairs * evidence.variance * 2 + np.maximum(found, 1.0)
    spread = 0.5 * expected**2
    shrunk = (expected * noise + found * spread) / np.maximum(noise + spread, 1e-12)
    return np.maximum(shrunk, 0.1 * expected) / np.maximum(pairs, 1.0) + LEAST_DENSITY / 10


def _labelled(nodes: int, labels: LabelReport) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    classes = np.full(nodes, -1, dtype=np.int64)
    classes[labels.train_nodes] = labels.train_labels
    classes[labels.validation_nodes] = labels.validation_labels
    return classes >= 0, classes


def _blocks(evidence: EdgeEvidence) -> Iterator[slice]:
    for start in range(0, evidence.nodes, BLOCK):
        yield slice(start, min(start + BLOCK, evidence.nodes))


def _lookup(evidence: EdgeEvidence, rows: slice, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rows, N): a value for every number of ones, and zero on the diagonal."""
    found = values[evidence.ones[rows]]
    found[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = 0.0
    return found


def _weighted(evidence: EdgeEvidence, values: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([_lookup(evidence, rows, values) @ columns for rows in _blocks(evidence)])


def _pairs(evidence: EdgeEvidence, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs with these numbers of ones, by head."""
    heads, tails = [], []
    for rows in _blocks(evidence):
        head, tail = np.nonzero(chosen[evidence.ones[rows]])
        head = head + rows.start
        heads.append(head[tail > head])
        tails.append(tail[tail > head])
    return np.concatenate(heads), np.concatenate(tails)
