from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tasks.curator.calibration.smoothing import SMOOTHINGS, smooth, smoothed_targets, smoothing_matrix
from tasks.errors import UserError


def dense_operator(graph: np.ndarray, smoothing: str) -> np.ndarray:
    """Entry by entry, as the formulae read."""
    graph = graph.astype(float)
    np.fill_diagonal(graph, 0)
    lonely = graph.sum(axis=1) == 0
    graph[lonely, lonely] = 1
    degree = graph.sum(axis=1)
    product = degree[:, None] * degree[None, :]
    return graph / (np.sqrt(product) if smoothing == "gcn" else product)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@given(seed=st.integers(0, 10_000), weighted=st.booleans(), steps=st.integers(0, 5))
@settings(max_examples=40)
def test_against_dense_powers(smoothing: str, seed: int, weighted: bool, steps: int) -> None:
    rng = np.random.default_rng(seed)
    graph = (rng.random((12, 12)) < 0.15) * (rng.random((12, 12)) if weighted else 1.0)
    operator = smoothing_matrix(csr_array(graph), smoothing)  # type: ignore[arg-type]
    matrix = rng.normal(size=(12, 3))
    expected = np.linalg.matrix_power(dense_operator(graph, smoothing), steps) @ matrix
    np.testing.assert_allclose(smooth(operator, matrix, steps), expected, atol=1e-12)
    assert operator.has_sorted_indices


def test_a_lonely_node_keeps_its_value_and_no_node_keeps_a_self_loop() -> None:
    graph = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]])
    operator = smoothing_matrix(csr_array(graph))
    np.testing.assert_array_equal(operator.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 1]])


def test_a_symmetric_graph_is_never_amplified() -> None:
    """The spectrum of D^-1/2 A D^-1/2 lies in [-1, 1], so l2 norms cannot grow."""
    rng = np.random.default_rng(1)
    graph = np.triu(rng.random((40, 40)) < 0.1, 1)
    operator = smoothing_matrix(csr_array((graph | graph.T).astype(np.int8)))
    assert np.abs(np.linalg.eigvalsh(operator.toarray())).max() <= 1 + 1e-12


def test_the_printed_form_shrinks_where_the_code_does_not() -> None:
    ring = np.roll(np.eye(9), 1, axis=1) + np.roll(np.eye(9), -1, axis=1)
    gcn, paper = (smooth(smoothing_matrix(csr_array(ring), kind), np.ones((9, 1)), 3) for kind in SMOOTHINGS)
    np.testing.assert_allclose(gcn, 1.0)
    np.testing.assert_allclose(paper, 0.5**3)


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(UserError, match="'mean'"):
        smoothing_matrix(csr_array((2, 2)), "mean")  # type: ignore[arg-type]


# Targets: nodes 0 to 3 train, 4 and 5 validate, 6 is a test node.
CLASSES = np.array([0, 0, 1, 1, 1, 1, 0])
PATH = csr_array(np.array([
    [0, 1, 1, 0, 1, 0, 0],
    [1, 0, 0, 0, 0, 0, 0],
    [1, 0, 0, 1, 0, 0, 0],
    [0, 0, 1, 0, 0, 1, 0],
    [1, 0, 0, 0, 0, 0, 1],
    [0, 0, 0, 1, 0, 0, 0],
    [0, 0, 0, 0, 1, 0, 0],
]))  # fmt: skip


def test_zero_steps_leave_the_labels_alone(label_report) -> None:
    labels = label_report(CLASSES, 4, 2, 2)
    np.testing.assert_array_equal(smoothed_targets(labels, smoothing_matrix(PATH), 0), labels.train_labels)


def test_targets_are_the_arg_max_of_what_arrives(label_report) -> None:
    labels = label_report(CLASSES, 4, 2, 2)
    # Node 0 hears 0 from node 1 (degree 1) louder than 1 from node 2 (degree 2); node 2 hears 0 from node 0 at
    # 1/sqrt(6) and 1 from node 3 at 1/2.
    np.testing.assert_array_equal(smoothed_targets(labels, smoothing_matrix(PATH), 1), [0, 0, 1, 1])
    flipped = label_report(np.array([0, 0, 1, 0, 1, 1, 0]), 4, 2, 2)
    # Now nodes 2 and 3 hear each other's class only, or mostly.
    np.testing.assert_array_equal(smoothed_targets(flipped, smoothing_matrix(PATH), 1), [0, 0, 0, 1])


def test_a_node_that_hears_nothing_or_a_tie_keeps_its_label(label_report) -> None:
    labels = label_report(np.array([1, 0, 0, 1]), 3, 1, 2)
    silent = csr_array(np.array([[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 0]]))
    np.testing.assert_array_equal(smoothed_targets(labels, smoothing_matrix(silent), 1), labels.train_labels)
    tie = csr_array(np.array([[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]))
    tied = label_report(np.array([1, 0, 1, 1]), 3, 1, 2)
    assert smoothed_targets(tied, smoothing_matrix(tie), 1)[0] == 1


@given(seed=st.integers(0, 10_000), steps=st.integers(0, 8))
@settings(max_examples=30)
def test_only_training_labels_enter(label_report, seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    classes, other = rng.integers(3, size=(2, 30))
    other[:15] = classes[:15]
    operator = smoothing_matrix(csr_array(rng.random((30, 30)) < 0.1))
    first, second = (smoothed_targets(label_report(c, 15, 8, 3), operator, steps) for c in (classes, other))
    np.testing.assert_array_equal(first, second)
