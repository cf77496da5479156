"""What the encoders are seen to spend on two embeddings that differ in every row."""

import numpy as np
import pytest

from tasks.client.embedding_encoder import encode_embeddings
from tasks.evaluation.audit import audit_epsilon
from tasks.seeds import generator

DRAWS = 60_000
ONE = np.array([[1.0, 0.0], [1.0, 0.0]])


def outputs(h: np.ndarray, encoder: str, epsilon: str, seed: int, draws: int = DRAWS) -> np.ndarray:
    """Everything a graph sends, as one number: its cells in base 3."""
    report = encode_embeddings([h] * draws, encoder, epsilon, generator(seed), True, dataset="toy")
    cells = np.ones((draws * len(h), h.shape[1]), dtype=np.int64)
    cells[np.repeat(np.arange(len(cells)), np.diff(report.indptr)), report.columns] += report.signs
    return cells.reshape(draws, -1) @ 3 ** np.arange(h.size)


@pytest.mark.parametrize(
    ("encoder", "epsilon", "spent"),
    [("per_row", "2", 2.0), ("per_row", "6", 6.0), ("per_row", "1/n", 0.5), ("paper", "4", 2.0), ("row", "2", 4.0)],
)
def test_graphs_spend_what_is_claimed_and_no_more(encoder: str, epsilon: str, spent: float) -> None:
    """``row`` claims its budget for one row: the two rows here, which one node may change, cost twice as much."""
    result = audit_epsilon(outputs(ONE, encoder, epsilon, 1), outputs(ONE[:, ::-1], encoder, epsilon, 2))
    assert 0.75 * spent < result.lower_bound <= spent


def test_row_keeps_its_claim_for_one_row() -> None:
    changed = np.array([[1.0, 0.0], [0.0, 1.0]])
    result = audit_epsilon(outputs(ONE, "row", "2", 1), outputs(changed, "row", "2", 2))
    assert 1.5 < result.lower_bound <= 2.0


def test_gaussian_scale_spends_far_more_than_its_setting() -> None:
    """With "eps" 0.1 read as a standard deviation, two embeddings are told apart almost surely."""
    reports = [
        encode_embeddings([h] * 20_000, "gaussian_scale", "0.1", generator(seed), True, dataset="toy")
        for seed, h in enumerate((ONE, ONE[:, ::-1]))
    ]
    first, second = ((report.values[::2, 0] > 0.5).astype(np.int64) for report in reports)
    assert audit_epsilon(first, second).lower_bound > 5
