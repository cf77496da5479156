"""Every unusable input is refused by one line that names the graph."""

import numpy as np
import pytest

from tasks.curator.gromov.validation import checked_distances, checked_features
from tasks.errors import UserError


@pytest.mark.parametrize(
    ("matrix", "named"),
    [
        (np.zeros((0, 0)), "nodes"),
        (np.zeros((2, 3)), r"\(2, 3\)"),
        (np.zeros(4), r"\(4,\)"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "NaN"),
        (np.array([[0.0, np.inf], [np.inf, 0.0]]), "infinity"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (np.array([[0.0, 1j], [1j, 0.0]]), "real"),
        (np.array([[0.0, 1e90], [1e90, 0.0]]), "overflow"),
        (np.array([["a", "b"], ["b", "a"]]), "real"),
        ([[0.0, 1.0], [1.0]], "lengths"),
    ],
)
def test_unusable_distances(matrix: np.ndarray, named: str) -> None:
    with pytest.raises(UserError, match=named) as caught:
        checked_distances(matrix, 3)
    assert str(caught.value).startswith("graph 3:")


@pytest.mark.parametrize(
    ("features", "named"),
    [
        ([np.ones((2, 1))], "^1 .* 2 "),
        ([np.ones((2, 1)), np.ones((3, 1))], r"graph 1: .*\(3, 1\)"),
        ([np.ones((2, 1)), np.ones((2, 2))], "graph 1: 2 .* 1;"),
        ([np.ones((2, 1)), np.full((2, 1), np.nan)], "NaN"),
        ([np.ones(2), np.ones(2)], r"graph 0: .*\(2,\)"),
        ([np.ones((2, 1)), np.full((2, 1), 1e200)], "overflow"),
        ([np.ones((2, 1)), np.full((2, 1), 1j)], "complex"),
        ([np.ones((2, 1)), np.array([["a"], ["b"]])], "graph 1: .*real"),
    ],
)
def test_unusable_features(features: list[np.ndarray], named: str) -> None:
    with pytest.raises(UserError, match=named):
        checked_features(features, [np.zeros((2, 2))] * 2)


def test_rounding_asymmetry_is_mended() -> None:
    matrix = np.array([[0.0, 1.0], [1.0 + 1e-14, 0.0]])
    mended = checked_distances(matrix, 0)
    np.testing.assert_array_equal(mended, mended.T)
