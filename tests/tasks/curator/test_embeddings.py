import numpy as np
import pytest

from tasks.client.embedding_encoder import encode_embeddings
from tasks.curator.embeddings import decoded, rectifier_scale
from tasks.seeds import generator

H = np.array([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])


def report(encoder: str, epsilon: str, copies: int):
    return encode_embeddings([H, H[:2]] * copies, encoder, epsilon, generator(1), True, dataset="toy")


@pytest.mark.parametrize("encoder", ["per_row", "row", "paper"])
@pytest.mark.parametrize("epsilon", ["1/n", "2", "15"])
def test_rectified_signs_are_unbiased(encoder: str, epsilon: str) -> None:
    copies = 20_000
    sent = report(encoder, epsilon, copies)
    for position, truth in ((0, H), (1, H[:2])):
        estimates = np.stack(decoded(sent, rectify=True)[position::2])
        spread = rectifier_scale(sent, len(truth)) / np.sqrt(copies)
        np.testing.assert_allclose(estimates.mean(axis=0), truth, atol=5.4 * spread)


def test_without_rectifier_the_signs_are_read_as_sent() -> None:
    parts = decoded(report("per_row", "2", 3))
    assert [part.shape for part in parts] == [(3, 3), (2, 3)] * 3
    assert all(set(np.unique(part)) <= {-1.0, 0.0, 1.0} for part in parts)
    assert all((np.abs(part).sum(axis=1) == 1).all() for part in parts)


@pytest.mark.parametrize("rectify", [True, False])
def test_values_pass_unchanged(rectify: bool) -> None:
    for part, truth in zip(decoded(report("per_row", "inf", 1), rectify=rectify), (H, H[:2]), strict=True):
        assert (part == truth).all()
    noisy = report("gaussian_scale", "0.1", 1)
    assert (np.concatenate(decoded(noisy, rectify=rectify)) == noisy.values).all()


def test_rectifier_at_the_default_budget_is_as_large_as_the_source_of_the_decision_says() -> None:
    """h / (2 tanh(a/2)) with a = 1/n^2: for 18 nodes and 64 columns an estimate is +-20,736."""
    sent = encode_embeddings([np.full((18, 64), 1 / 64)], "per_row", "1/n", generator(0), True, dataset="toy")
    assert rectifier_scale(sent, 18) == pytest.approx(64 * 18**2, rel=1e-5)
