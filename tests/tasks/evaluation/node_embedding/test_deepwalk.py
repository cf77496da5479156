from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import chisquare

from tasks.evaluation.node_embedding.deepwalk import deepwalk_corpus
from tasks.seeds import generator


def star_with_a_spare() -> csr_array:
    """Centre 0 with leaves 1 to 4, and 5 alone."""
    dense = np.zeros((6, 6), dtype=np.int8)
    dense[0, 1:5] = dense[1:5, 0] = 1
    return csr_array(dense)


def test_walks_follow_edges_uniformly_from_every_vertex(tmp_path: Path):
    corpus = deepwalk_corpus(star_with_a_spare(), tmp_path, generator(1), walks=200, length=7)
    after_centre = np.zeros(6)
    for walks in corpus:
        assert sorted(walks[:, 0].tolist()) == list(range(6))
        for walk in walks.tolist():
            if walk[0] == 5:
                assert walk[1:] == [-1] * 6
                continue
            assert all((before == 0) != (after == 0) for before, after in pairwise(walk))
            for before, after in pairwise(walk):
                after_centre[after] += before == 0
    assert chisquare(after_centre[1:5]).pvalue > 1e-4


def test_a_seed_gives_the_same_files(tmp_path: Path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        deepwalk_corpus(star_with_a_spare(), tmp_path / name, generator(seed), walks=2, length=9)
    a, b, c = ((tmp_path / name / "round-0001.npy").read_bytes() for name in "abc")
    assert a == b
    assert a != c
