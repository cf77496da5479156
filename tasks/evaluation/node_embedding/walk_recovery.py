"""How many edges an observer reads from what devices upload: precision and recall of the |E| likeliest pairs.

From walks, the pairs that are adjacent most often; from lists, the pairs that both ends name. The baseline of both is
an observer who has noisy degrees alone and guesses the pairs with the largest products. Pairs that tie for the last
places share them evenly, in expectation, so no order of ids can favour anyone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.errors import UserError
from tasks.reports.edge import EdgeReport
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.fedwalk.walk_corpus import END, WalkCorpus


@dataclass(frozen=True)
class EdgeRecovery:
    """What an observer's guess is worth.

    Attributes:
        edges: true edges |E|.
        guesses: pairs guessed, |E| or all that were seen, if fewer.
        precision: share of the guesses that are edges.
        recall: share of the edges that are guessed; equal to the precision when |E| pairs are guessed.
        base_rate: share of all pairs that are edges, the precision of a blind guess.
    """

    edges: int
    guesses: int
    precision: float
    recall: float
    base_rate: float


def recovery_from_walks(corpus: WalkCorpus, adjacency: csr_array) -> EdgeRecovery:
    """Guesses the |E| most frequent pairs of adjacent tokens; 8 bytes of memory a token."""
    keys = np.empty(corpus.tokens, dtype=np.int64)
    filled = 0
    for walks in corpus:
        left, right = walks[:, :-1], walks[:, 1:]
        found = _pair_keys(left, right, corpus.nodes, (left != END) & (right != END))
        keys[filled : filled + len(found)] = found
        filled += len(found)
    return _recovery(keys[:filled], adjacency)


def recovery_from_lists(report: EncodedListReport | EdgeReport, adjacency: csr_array) -> EdgeRecovery:
    """Guesses the |E| pairs that most entries name, one end's or both ends'."""
    owner = np.repeat(np.arange(report.nodes, dtype=np.int32), np.diff(report.indptr))
    every = np.ones(len(owner), dtype=bool)
    return _recovery(_pair_keys(owner, report.indices, report.nodes, every), adjacency)


def recovery_from_degrees(degrees: NDArray[np.int64], adjacency: csr_array) -> EdgeRecovery:
    """Guesses the |E| pairs with the largest products of reported degrees, a degree below one half taken as that.

    Pairs are counted by their two degrees, not one by one; memory: the square of the number of different degrees.
    """
    nodes, edges = adjacency.shape[0], adjacency.nnz // 2
    if not edges:
        raise UserError("edge recovery: the graph has no edge")
    values, kind = np.unique(np.maximum(degrees, 0.5), return_inverse=True)
    sizes = np.bincount(kind, minlength=len(values))
    rows = np.repeat(kind, np.diff(adjacency.indptr))
    linked = np.bincount(rows * len(values) + kind[adjacency.indices], minlength=len(values) ** 2) / 2
    possible = (np.outer(sizes, sizes) - np.diag(sizes)).ravel() / 2
    _, place = np.unique(np.outer(values, values), return_inverse=True)
    pairs = np.bincount(place.ravel(), possible)[::-1]
    hits = np.bincount(place.ravel(), linked)[::-1]
    before = np.cumsum(pairs) - pairs
    share = np.clip((edges - before) / np.maximum(pairs, 0.5), 0.0, 1.0)
    precision = float((share * hits).sum() / edges)
    return EdgeRecovery(edges, edges, precision, precision, edges / (nodes * (nodes - 1) / 2))


def _pair_keys(
    left: NDArray[np.int32], right: NDArray[np.int32], nodes: int, kept: NDArray[np.bool_]
) -> NDArray[np.int64]:
    kept = kept & (left != right)
    low, high = np.minimum(left[kept], right[kept]), np.maximum(left[kept], right[kept])
    return low.astype(np.int64) * nodes + high


def _recovery(keys: NDArray[np.int64], adjacency: csr_array) -> EdgeRecovery:
    """Sorts ``keys`` in place."""
    nodes, edges = adjacency.shape[0], adjacency.nnz // 2
    if not edges:
        raise UserError("edge recovery: the graph has no edge")
    keys.sort()
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    pairs, counts = keys[starts], np.diff(starts, append=len(keys))
    rows = np.repeat(np.arange(nodes, dtype=np.int64), np.diff(adjacency.indptr))
    known = np.sort(rows * nodes + adjacency.indices)
    truth = known[np.minimum(np.searchsorted(known, pairs), len(known) - 1)] == pairs
    guesses = min(edges, len(pairs))
    hits = _expected_hits(counts, truth, guesses)
    return EdgeRecovery(
        edges=edges,
        guesses=guesses,
        precision=hits / guesses if guesses else 0.0,
        recall=hits / edges,
        base_rate=edges / (nodes * (nodes - 1) / 2),
    )


def _expected_hits(counts: NDArray[np.int64], truth: NDArray[np.bool_], guesses: int) -> float:
    if not guesses:
        return 0.0
    last = np.partition(counts, len(counts) - guesses)[len(counts) - guesses]
    above, tied = counts > last, counts == last
    share = (guesses - int(above.sum())) / int(tied.sum())
    return float(truth[above].sum() + share * truth[tied].sum())
