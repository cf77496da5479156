"""What a ranking of all pairs of nodes is worth: AUC, and the share of edges among the |E| pairs that it puts first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.datasets.graph import RawGraph
from tasks.evaluation.attacks.pairs import PairSample
from tasks.evaluation.attacks.privacy import refuse_private

BLOCK = 256
"""Rows of the score matrix that are in memory at a time."""

Scores = Callable[[slice], NDArray[np.floating]]
"""Rows of nodes in, their scores with every node out, float (rows, N); only entries above the diagonal are read."""


@dataclass(frozen=True)
class Ranking:
    """Outcome of an attack that scores every pair.

    Attributes:
        auc: on the sampled pairs.
        precision: share of true edges among the |E| pairs of all with the highest scores; pairs that tie for the last
            places share them evenly.
    """

    auc: float
    precision: float


def rank_pairs(graph: RawGraph, scores: Scores, pairs: PairSample) -> Ranking:
    """Scores all pairs block by block; memory: ``BLOCK`` rows and |E| scores.

    Raises:
        UserError: for a private data set.
    """
    refuse_private(graph.name, graph.private)
    first = FirstPairs(graph.edges)
    sampled = np.empty(len(pairs.heads))
    order = np.argsort(pairs.heads, kind="stable")
    heads = pairs.heads[order]
    columns = np.arange(graph.nodes)
    for start in range(0, graph.nodes, BLOCK):
        rows = slice(start, min(start + BLOCK, graph.nodes))
        block = scores(rows)
        here = order[slice(*np.searchsorted(heads, [rows.start, rows.stop]))]
        sampled[here] = block[pairs.heads[here] - start, pairs.tails[here]]
        above = columns > np.arange(rows.start, rows.stop)[:, None]
        first.add(block[above], graph.adjacency[rows].toarray()[above] > 0)
    return Ranking(auc(pairs.edge, sampled), first.precision)


class FirstPairs:
    """The ``wanted`` highest of many scores, as they come."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self._kept = np.empty(0)
        self._edges = np.empty(0)
        self._tied = 0

    def add(self, scores: NDArray[np.floating], edge: NDArray[np.bool_]) -> None:
        """More pairs, and which of them are edges."""
        self._edges = np.concatenate([self._edges, scores[edge]])
        every = np.concatenate([self._kept, scores])
        if len(every) <= self.wanted:
            self._kept = every
            return
        last = self._kept.min() if len(self._kept) == self.wanted else -np.inf
        every = np.partition(every, len(every) - self.wanted)[len(every) - self.wanted :]
        # Of a threshold that rises every earlier score is still among the kept ones.
        earlier = self._tied if every[0] == last else int((self._kept == every[0]).sum())
        self._tied = earlier + int((scores == every[0]).sum())
        self._kept = every

    @property
    def precision(self) -> float:
        """Share of edges among the first; ties for the last places count in expectation."""
        last = self._kept.min()
        tied = max(self._tied, int((self._kept == last).sum()))
        share = (len(self._kept) - int((self._kept > last).sum())) / tied
        return float(((self._edges > last).sum() + share * (self._edges == last).sum()) / len(self._kept))


def auc(edge: NDArray[np.bool_], scores: NDArray[np.floating]) -> float:
    """Chance that an edge has a higher score than another pair, ties counted half."""
    others = np.sort(scores[~edge])
    below = np.searchsorted(others, scores[edge], "left") + np.searchsorted(others, scores[edge], "right")
    return float(below.mean() / (2 * len(others)))
