from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import Word2Vec

from tasks.curator.fedwalk.skip_gram import skip_gram
from tasks.errors import UserError
from tasks.reports.fedwalk.walk_corpus import WalkCorpus
from tasks.seeds import generator

SMALL = {"seed": 7, "dimensions": 16, "window": 3}


def communities(folder: Path, *, ragged: bool = False) -> WalkCorpus:
    """Walks that stay among 0..9 or among 10..19; vertex 20 is in none."""
    rng, rounds = generator(1), []
    for _ in range(4):
        walks = rng.integers(0, 10, size=(100, 12)) + 10 * rng.integers(0, 2, size=(100, 1))
        if ragged:
            walks[np.arange(12) >= rng.integers(1, 13, size=(100, 1))] = -1
        rounds.append(walks.astype(np.int32))
    return WalkCorpus.write(folder, rounds, nodes=21, length=12)


@pytest.mark.parametrize("ragged", [False, True])
def test_streaming_learns_what_gensim_learns_from_lists(tmp_path: Path, ragged: bool):
    corpus = communities(tmp_path, ragged=ragged)
    walks = [[str(token) for token in walk if token >= 0] for part in corpus for walk in part.tolist()]
    model = Word2Vec(
        walks, vector_size=16, window=3, sg=1, hs=1, negative=0, sample=0, min_count=1, epochs=1, workers=1, seed=7
    )
    ours = skip_gram(corpus, **SMALL)
    # The vocabulary's order among equal frequencies is the one freedom; geometry is what has to agree.
    for vertex in range(20):
        assert ours[vertex].shape == model.wv[str(vertex)].shape
    reference = np.array([model.wv[str(vertex)] for vertex in range(20)])
    assert correlation(ours[:20]) == pytest.approx(correlation(reference), abs=0.1)


def correlation(vectors: np.ndarray) -> float:
    """Mean cosine within communities less the mean across."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = units @ units.T
    within = (cosines[:10, :10].mean() + cosines[10:, 10:].mean()) / 2
    return float(within - cosines[:10, 10:].mean())


def test_communities_come_apart_and_an_absent_vertex_is_zero(tmp_path: Path):
    embedding = skip_gram(communities(tmp_path), **SMALL)
    assert embedding.shape == (21, 16)
    assert embedding.dtype == np.float32
    assert correlation(embedding[:20]) > 0.2
    assert not embedding[20].any()


def test_one_worker_is_reproducible(tmp_path: Path):
    corpus = communities(tmp_path)
    assert np.array_equal(skip_gram(corpus, **SMALL), skip_gram(corpus, **SMALL))
    assert not np.array_equal(skip_gram(corpus, **SMALL), skip_gram(corpus, **{**SMALL, "seed": 8}))


def test_progress_counts_every_token(tmp_path: Path):
    corpus, seen = communities(tmp_path, ragged=True), []
    skip_gram(corpus, **SMALL, progress=lambda *state: seen.append(state))
    assert [total for _, total, _ in seen] == [corpus.tokens] * 4
    assert seen[-1][0] == corpus.tokens
    assert all(rate > 0 for *_, rate in seen)


def test_too_little_to_learn_from_is_refused(tmp_path: Path):
    alone = WalkCorpus.write(tmp_path, [np.zeros((3, 4), dtype=np.int32)], nodes=2, length=4)
    with pytest.raises(UserError, match=" 1 vertices"):
        skip_gram(alone, **SMALL)
    with pytest.raises(UserError, match="window"):
        skip_gram(alone, **{**SMALL, "window": 0})
