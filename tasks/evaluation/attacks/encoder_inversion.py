"""Edges behind encoded lists and encoded walks: expectation maximisation over the public encoder.

The law of the encoder is known: a vertex u is uploaded as x with probability Q[u, x]. Let A[v, u] = A[u, v] be the
expected number of times that v's list has u. What v's list shows of x is then about Poisson with mean (A Q)[v, x], and
how often y follows x in walks with mean (Q' A Q)[x, y]. Both are linear in A with columns that sum to one, so

    A <- A * (what is seen over what was expected, carried back through Q, the mean of both ends)

is the EM step of the likelihood, which never falls (Shepp and Vardi, IEEE Trans. Med. Imaging 1, 1982). Its maximum
fits the noise; ``with_closure`` makes one step from a prior instead, under which neighbours share neighbours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.encoder import encoder_for
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.fedwalk.walk_corpus import END, WalkCorpus

ROUNDS = 10
WALK_ROUNDS = 20
"""Walks say less of a pair and more of all of them: their likelihood rises more slowly."""
CLOSURES = 6
CLOSURE = 0.5
"""Share of the prior that comes from common neighbours, fixed beforehand; the rest is from degrees."""
LEAST_DEGREE = 0.5
_TINY = np.float32(1e-30)

Rates = NDArray[np.float32]
Step = Callable[[Rates], tuple[Rates, float]]
"""Rates in; better rates and the log likelihood of those that came in, but for a constant."""


def encoder_law(tree: ClusterTree, epsilon: str) -> NDArray[np.float32]:
    """Q, (V, V): row u is the law of u's encoding; memory: 4 V^2 bytes."""
    encoder, layout = encoder_for(tree, epsilon), tree.layout
    law = np.zeros((tree.leaves, tree.leaves), dtype=np.float32)
    if not encoder.identity:
        # From the root down, so that the lowest common ancestor of two leaves writes last.
        for node in range(2 * tree.leaves - 2, tree.leaves - 1, -1):
            below = layout.order[layout.first[node] : layout.first[node] + layout.size[node]]
            law[np.ix_(below, below)] = encoder.decay[layout.depth[node]]
    np.fill_diagonal(law, 1.0)
    law /= encoder.normaliser[:, None]
    return law


def list_step(report: EncodedListReport, law: NDArray[np.float32]) -> Step:
    """The EM step for encoded lists."""
    owner = np.repeat(np.arange(report.nodes), np.diff(report.indptr))
    seen = csr_array((np.ones(len(owner), dtype=np.float32), (owner, report.indices)), shape=law.shape)
    rows, columns = seen.nonzero()
    counts = np.asarray(seen[rows, columns], dtype=np.float32)

    def step(rates: Rates) -> tuple[Rates, float]:
        expected = np.maximum((rates @ law)[rows, columns], _TINY)
        back = csr_array((counts / expected, (rows, columns)), shape=law.shape) @ law.T
        likelihood = float(counts @ np.log(expected.astype(np.float64))) - float(rates.sum(dtype=np.float64))
        return rates * (back + back.T) / 2, likelihood

    return step


def named(report: EncodedListReport) -> Rates:
    """(V, V): how many entries of both ends' lists name the other end: what can be read without the law."""
    owner = np.repeat(np.arange(report.nodes), np.diff(report.indptr))
    seen = np.zeros((report.nodes, report.nodes), dtype=np.float32)
    np.add.at(seen, (owner, report.indices), 1)
    return seen + seen.T


def bigrams(corpus: WalkCorpus) -> Rates:
    """(V, V): how often two tokens succeed each other, in either order."""
    seen = np.zeros((corpus.nodes, corpus.nodes), dtype=np.float32)
    for walks in corpus:
        left, right = walks[:, :-1], walks[:, 1:]
        there = (left != END) & (right != END)
        keys = left[there].astype(np.int64) * corpus.nodes + right[there]
        seen += np.bincount(keys, minlength=seen.size).reshape(seen.shape)
    return seen + seen.T


def walk_step(seen: Rates, law: NDArray[np.float32]) -> Step:
    """The EM step for encoded walks: two vertices succeed each other as often in either order."""

    def step(rates: Rates) -> tuple[Rates, float]:
        expected = np.maximum(law.T @ rates @ law, _TINY)
        likelihood = float((seen * np.log(expected)).sum(dtype=np.float64)) - float(rates.sum(dtype=np.float64))
        return rates * (law @ (seen / expected) @ law.T), likelihood

    return step


def degree_rates(degrees: NDArray[np.number], total: float) -> Rates:
    """(V, V): rates in proportion to the product of degrees, with this sum and a zero diagonal."""
    weights = np.maximum(degrees, LEAST_DEGREE).astype(np.float32)
    rates = np.outer(weights, weights)
    np.fill_diagonal(rates, 0.0)
    rates *= np.float32(total / rates.sum(dtype=np.float64))
    return rates


def most_likely(step: Step, start: Rates, rounds: int = ROUNDS) -> Rates:
    """The rates after some steps; memory: a few times 4 V^2 bytes."""
    rates = start
    for _ in range(rounds):
        rates, _likelihood = step(rates)
    return rates


def with_closure(step: Step, start: Rates, rates: Rates) -> Rates:
    """Posterior rates under a prior of degrees and common neighbours, the latter by the rates found before.

    Args:
        step: see ``list_step``.
        start: the rates of degrees alone.
        rates: a first estimate, see ``most_likely``.
    """
    total = float(start.sum(dtype=np.float64))
    for _ in range(CLOSURES):
        common = rates @ rates
        np.fill_diagonal(common, 0.0)
        common *= np.float32(total / max(float(common.sum(dtype=np.float64)), 1e-30))
        rates, _likelihood = step((1 - CLOSURE) * start + CLOSURE * common)
    return rates
