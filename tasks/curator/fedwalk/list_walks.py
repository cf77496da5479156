"""Walks that the server makes itself over noisy neighbour lists: post-processing, of any number and length."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tasks.counter_draws import below, draw_key, stream
from tasks.errors import UserError
from tasks.reports.edge import EdgeReport
from tasks.reports.fedwalk.encoded_lists import EncodedListReport
from tasks.reports.fedwalk.walk_corpus import END, WalkCorpus


def walk_lists(
    report: EncodedListReport | EdgeReport,
    folder: Path,
    rng: np.random.Generator,
    *,
    walks: int = 80,
    length: int = 40,
) -> WalkCorpus:
    """Uniform walks over reported lists, from every vertex ``walks`` times, each round in a random order.

    Args:
        report: encoded lists, or lists under per-bit randomised response; a walk ends at an empty one.
        folder: receives the rounds.
        rng: the curator's randomness.
        walks: rounds.
        length: vertices in a walk.

    Raises:
        UserError: when nothing is to be walked.
    """
    if walks < 1 or length < 2:
        raise UserError(f"walks: {walks} of length {length}; make 1 or more of 2 vertices or more")
    indptr, indices, nodes = report.indptr, report.indices, report.nodes
    if isinstance(report, EdgeReport):
        lists = report.adjacency()
        indptr, indices = lists.indptr.astype(np.int64), lists.indices.astype(np.int32)
    key = draw_key(rng)

    def rounds() -> Iterator[NDArray[np.int32]]:
        for number in range(walks):
            yield _walked(indptr, indices, rng.permutation(nodes), number * nodes, length, key)

    return WalkCorpus.write(folder, rounds(), nodes=nodes, length=length)


@njit(nogil=True)
def _walked(indptr, indices, starts, walk, length, key):  # type: ignore[no-untyped-def]
    tokens = np.full((len(starts), length), END, dtype=np.int32)
    for row in range(len(starts)):
        vertex = starts[row]
        draws = stream(key, walk + vertex)
        tokens[row, 0] = vertex
        for step in range(1, length):
            first = indptr[vertex]
            degree = indptr[vertex + 1] - first
            if degree == 0:
                break
            vertex = indices[first + below(draws, step, degree)]
            tokens[row, step] = vertex
    return tokens
