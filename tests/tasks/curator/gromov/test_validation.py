"""Every unusable input is refused by one line that names the graph."""

import numpy as np
import pytest

from tasks.curator.gromov.validation import checked_distances, checked_features
from tasks.errors import UserError


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((0, 0)), "no nodes"),
        (np.zeros((2, 3)), "square"),
        (np.zeros(4), "square"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "NaN"),
        (np.array([[0.0, np.inf], [np.inf, 0.0]]), "NaN or infinity"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (np.array([[0.0, 1j], [1j, 0.0]]), "real"),
        (np.array([[0.0, 1e90], [1e90, 0.0]]), "overflow"),
        (np.array([["a", "b"], ["b", "a"]]), "real"),
        ([[0.0, 1.0], [1.0]], "different lengths"),
    ],
)
def test_unusable_distances(matrix: np.ndarray, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        checked_distances(matrix, 3)
    assert str(caught.value).startswith("graph 3:")


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([np.ones((2, 1))], "one per graph"),
        ([np.ones((2, 1)), np.ones((3, 1))], "one row for each"),
        ([np.ones((2, 1)), np.ones((2, 2))], "align"),
        ([np.ones((2, 1)), np.full((2, 1), np.nan)], "NaN"),
        ([np.ones(2), np.ones(2)], "one row for each"),
        ([np.ones((2, 1)), np.full((2, 1), 1e200)], "overflow"),
        ([np.ones((2, 1)), np.full((2, 1), 1j)], "complex"),
        ([np.ones((2, 1)), np.array([["a"], ["b"]])], "real numbers"),
    ],
)
def test_unusable_features(features: list[np.ndarray], message: str) -> None:
    with pytest.raises(UserError, match=message):
        checked_features(features, [np.zeros((2, 2))] * 2)


def test_rounding_asymmetry_is_mended() -> None:
    matrix = np.array([[0.0, 1.0], [1.0 + 1e-14, 0.0]])
    mended = checked_distances(matrix, 0)
    np.testing.assert_array_equal(mended, mended.T)
