"""The linear step against SciPy's linear programmes, and the invariants of its basis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from tasks.curator.gromov.conditional_gradient import greatest_common_divisor
from tasks.curator.gromov.spanning_tree import NODE, northwest_tree
from tasks.curator.gromov.transport_simplex import improve_basis
from tasks.curator.gromov.vertices import CELL, read_vertex


def solve(gain: np.ndarray, supply: np.ndarray, demand: np.ndarray) -> np.ndarray:
    n, m = gain.shape
    shift = int(2 * n).bit_length()
    perturbed = (supply << shift) + 1
    wanted = demand << shift
    wanted[-1] += n
    tree = np.empty(n + m + 1, NODE)
    root = northwest_tree(tree, np.arange(n, dtype=np.uint32), np.arange(m, dtype=np.uint32), perturbed, wanted)
    improve_basis(tree, np.empty(n + m), root, gain, 1e-12)
    cells = np.empty(n + m, CELL)
    count = read_vertex(tree, root, n, m, shift, cells)
    plan = np.zeros((n, m), np.int64)
    plan[cells["row"][:count], cells["column"][:count]] = cells["mass"][:count]
    return plan


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(1, 12), st.booleans(), st.integers(0, 2**32))
def test_optimum_and_exact_marginals(n: int, m: int, ties: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gain = rng.integers(0, 3, (n, m)).astype(float) if ties else rng.normal(size=(n, m))
    supply = np.full(n, m, np.int64)
    demand = np.full(m, n, np.int64)
    plan = solve(gain, supply, demand)
    np.testing.assert_array_equal(plan.sum(1), supply)
    np.testing.assert_array_equal(plan.sum(0), demand)
    assert plan.min() >= 0
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    reference = linprog(-gain.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([supply, demand]))
    assert np.sum(plan * gain) == pytest.approx(-reference.fun, abs=1e-8)


def test_assignment_is_a_permutation() -> None:
    gain = np.random.default_rng(1).normal(size=(60, 60))
    plan = solve(gain, np.ones(60, np.int64), np.ones(60, np.int64))
    rows, columns = linear_sum_assignment(gain, maximize=True)
    np.testing.assert_array_equal(np.argwhere(plan), np.stack([rows, columns], 1))


def test_greatest_common_divisor() -> None:
    assert [greatest_common_divisor(a, b) for a, b in ((12, 18), (7, 5), (4, 4))] == [6, 1, 4]
