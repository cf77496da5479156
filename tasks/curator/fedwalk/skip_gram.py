"""Skip-gram with hierarchical softmax over walks, by gensim, streamed from disk.

DeepWalk's objective (Perozzi, Al-Rfou and Skiena, KDD 2014): one epoch, no subsampling, and ``negative=0``, since
gensim's default would train negative sampling beside the softmax.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from gensim.models import Word2Vec
from numpy.typing import NDArray

from tasks.errors import UserError
from tasks.reports.fedwalk.walk_corpus import END, WalkCorpus

Progress = Callable[[int, int, float], None]
"""Called with tokens handed over so far, all tokens, and tokens a second."""


def skip_gram(
    corpus: WalkCorpus,
    *,
    seed: int,
    dimensions: int = 128,
    window: int = 10,
    workers: int = 1,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """The embedding of every vertex, float32 (V, dimensions); zeros for vertices in no walk.

    Args:
        corpus: the walks, in the order in which they are read.
        seed: of the initial vectors and the window draws; only its low 32 bits count.
        dimensions: d.
        window: largest distance of a pair.
        workers: threads; more than one is faster and not reproducible.
        progress: called after every round.

    Raises:
        UserError: when fewer than two vertices occur, or a size is below 1.
    """
    if min(dimensions, window, workers) < 1:
        raise UserError("skip-gram: dimensions, window and workers must be 1 or more")
    counts = corpus.frequencies()
    present = np.flatnonzero(counts)
    if len(present) < 2:
        raise UserError(f"skip-gram: the walks hold {len(present)} vertices; two or more are needed to learn from")
    model = Word2Vec(
        vector_size=dimensions,
        window=window,
        sg=1,
        hs=1,
        negative=0,
        sample=0,
        min_count=1,
        epochs=1,
        workers=workers,
        seed=seed % 2**32,
    )
    # Strings, because gensim reads an unknown integer key as a row number.
    model.build_vocab_from_freq({str(vertex): int(counts[vertex]) for vertex in present}, corpus_count=corpus.rounds)
    sentences = _Sentences(corpus, progress)
    model.train(sentences, total_words=corpus.tokens, epochs=1)
    embedding = np.zeros((corpus.nodes, dimensions), dtype=np.float32)
    embedding[present] = model.wv[[str(vertex) for vertex in present]]
    return embedding


class _Sentences:
    """The walks as lists of strings, one at a time; gensim asks for a restartable iterable."""

    def __init__(self, corpus: WalkCorpus, progress: Progress | None) -> None:
        self._corpus = corpus
        self._progress = progress
        self._names = np.array([str(vertex) for vertex in range(corpus.nodes)], dtype=object)

    def __iter__(self) -> Iterator[list[str]]:
        began, done = time.perf_counter(), 0
        for walks in self._corpus:
            for walk in self._names[walks].tolist() if (walks != END).all() else self._ragged(walks):
                yield walk
                done += len(walk)
            if self._progress is not None:
                self._progress(done, self._corpus.tokens, done / (time.perf_counter() - began))

    def _ragged(self, walks: NDArray[np.int32]) -> Iterator[list[str]]:
        lengths = (walks != END).sum(axis=1)
        for walk, length in zip(walks, lengths, strict=True):
            yield self._names[walk[:length]].tolist()
