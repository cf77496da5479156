from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import f1_score

from tasks.errors import UserError
from tasks.evaluation.node_embedding.embedding_scores import embedding_scores, f1, label_probabilities, most_likely
from tasks.seeds import generator


def separable(nodes: int = 200) -> tuple[np.ndarray, csr_array]:
    """Four labels that are linear in the embedding; a tenth of the nodes has none and is noise."""
    rng = generator(1)
    embedding = rng.normal(size=(nodes, 6)).astype(np.float32)
    labels = embedding[:, :4] > 0.3
    labels[: nodes // 10] = False
    return embedding, csr_array(labels.astype(np.uint8))


def test_perfect_information_scores_high_and_none_scores_low():
    embedding, labels = separable()
    good = embedding_scores(embedding, labels, [0.5], generator(2), splits=3)
    noise = generator(3).normal(size=embedding.shape).astype(np.float32)
    bad = embedding_scores(noise, labels, [0.5], generator(2), splits=3)
    assert min(score.micro_f1 for score in good) > 0.85
    assert max(score.micro_f1 for score in bad) < 0.6


def test_every_ratio_split_and_protocol_is_scored_and_the_seed_decides():
    embedding, labels = separable()
    scores = embedding_scores(embedding, labels, [0.2, 0.9], generator(2), splits=3)
    assert [(s.train_ratio, s.split, s.scoring) for s in scores] == [
        (ratio, split, scoring) for ratio in (0.2, 0.9) for split in range(3) for scoring in ("top_k", "threshold")
    ]
    assert scores == embedding_scores(embedding, labels, [0.2, 0.9], generator(2), splits=3)
    assert scores != embedding_scores(embedding, labels, [0.2, 0.9], generator(5), splits=3)


def test_probabilities_are_those_of_one_regression_a_label_and_constants_where_one_class_is_seen(logistic_optimum):
    embedding, labels = separable()
    dense = labels.toarray().astype(bool)
    dense[:, 1], dense[:, 2] = True, False
    likely = label_probabilities(embedding[:100], dense[:100], embedding[100:])
    for label in (0, 3):
        expected, allowed = logistic_optimum(embedding[:100], dense[:100, label], embedding[100:])
        assert (np.abs(likely[:, label] - expected) <= allowed).all()
    assert (likely[:, 1] == 1).all()
    assert (likely[:, 2] == 0).all()


def test_f1_is_scikit_learns():
    rng = generator(4)
    truth, guess = rng.random((50, 6)) < 0.3, rng.random((50, 6)) < 0.3
    truth[:, 0] = guess[:, 0] = guess[:, 1] = False
    assert f1(truth, guess) == pytest.approx(
        [f1_score(truth, guess, average=average, zero_division=0) for average in ("micro", "macro")]
    )


def test_top_k_gives_as_many_labels_as_asked():
    likely = np.array([[0.1, 0.9, 0.5], [0.3, 0.3, 0.3], [0.2, 0.1, 0.7]])
    chosen = most_likely(likely, np.array([2, 1, 3]))
    assert chosen.tolist() == [[False, True, True], [True, False, False], [True, True, True]]


def test_impossible_settings_are_refused():
    embedding, labels = separable()
    for ratio in (0.0, 1.0, 0.0001):
        with pytest.raises(UserError, match="train_ratios"):
            embedding_scores(embedding, labels, [ratio], generator(1))
    with pytest.raises(UserError, match=r"199 .* 200 "):
        embedding_scores(embedding[:-1], labels, [0.5], generator(1))
