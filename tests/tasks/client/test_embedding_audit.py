"""What the encoders are seen to spend on two embeddings that differ in every row."""

import numpy as np
import pytest

from tasks.evaluation.audits.embeddings import reported, sent_cells
from tasks.evaluation.audits.lower_bound import audit_epsilon
from tasks.reports.encoders import Encoder
from tasks.seeds import generator

DRAWS = 60_000
ONE = np.array([[1.0, 0.0], [1.0, 0.0]])


def outputs(h: np.ndarray, encoder: Encoder, epsilon: str, seed: int) -> np.ndarray:
    """Everything a graph sends, as one number."""
    report = reported(np.tile(h, (DRAWS, 1, 1)), encoder, epsilon, generator(seed))
    return (sent_cells(report).reshape(DRAWS, -1) + 1) @ 3 ** np.arange(h.size)


@pytest.mark.parametrize(
    ("encoder", "epsilon", "spent"),
    [("per_row", "2", 2.0), ("per_row", "6", 6.0), ("per_row", "1/n", 0.5), ("paper", "4", 2.0), ("row", "2", 4.0)],
)
def test_graphs_spend_what_is_claimed_and_no_more(encoder: Encoder, epsilon: str, spent: float) -> None:
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
        reported(np.tile(h, (20_000, 1, 1)), "gaussian_scale", "0.1", generator(seed))
        for seed, h in enumerate((ONE, ONE[:, ::-1]))
    ]
    first, second = ((report.values[::2, 0] > 0.5).astype(np.int64) for report in reports)
    assert audit_epsilon(first, second).lower_bound > 5
