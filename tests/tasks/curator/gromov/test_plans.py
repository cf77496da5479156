"""Couplings: exact marginals, and the value they stand for."""

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from tasks.curator.gromov.blocks import check_alpha, pair_keys
from tasks.curator.gromov.packing import PackedGraphs, pack
from tasks.curator.gromov.pair_solver import solve_pairs_compiled


def gromov_plan(
    packed: PackedGraphs, first: int, second: int, *, alpha: float | None = None, starts: int = 1, seed: int = 0
) -> tuple[float, np.ndarray]:
    """The value (not clipped) and the coupling (n, m) of two packed graphs, with uniform marginals 1/n and 1/m.

    Mass between merged nodes is spread evenly over the nodes they stand for. Arguments as in
    ``solve_block``.
    """
    check_alpha(packed, alpha)
    arrays = packed.arrays
    if alpha is None:
        arrays = arrays._replace(features=arrays.features[:, :0].copy())
    pairs = np.array([[first, second]], np.int64)
    rows, columns = packed.groups[first], packed.groups[second]
    plan = np.empty((rows.max() + 1) * (columns.max() + 1))
    value = np.empty(1)
    iterations = np.empty(1, np.int64)
    weight = 1.0 if alpha is None else float(alpha)
    solve_pairs_compiled(arrays, pairs, pair_keys(pairs, seed), weight, starts, plan, value, iterations)
    merged = plan.reshape(rows.max() + 1, columns.max() + 1)
    spread = np.outer(np.bincount(rows)[rows], np.bincount(columns)[columns])
    return float(value[0]), merged[np.ix_(rows, columns)] / spread


def objective(first: np.ndarray, second: np.ndarray, plan: np.ndarray) -> float:
    differences = (first[:, None, :, None] - second[None, :, None, :]) ** 2
    return float(np.einsum("ijkl,ij,kl->", differences, plan, plan))


@settings(max_examples=30)
@given(st.integers(1, 14), st.integers(1, 14), st.integers(1, 3), st.booleans(), st.integers(0, 2**32))
def test_marginals_are_exact_and_the_plan_has_the_value(n: int, m: int, starts: int, grid: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    draw = (lambda k: rng.integers(0, 3, (k, 2))) if grid else (lambda k: rng.normal(size=(k, 2)))
    first, second = (cdist(x, x) for x in (draw(n), draw(m)))
    value, plan = gromov_plan(pack([first, second]), 0, 1, starts=starts, seed=1)
    np.testing.assert_allclose(plan.sum(1), np.full(n, 1 / n), atol=1e-12, rtol=0)
    np.testing.assert_allclose(plan.sum(0), np.full(m, 1 / m), atol=1e-12, rtol=0)
    assert plan.min() >= 0
    assert value == pytest.approx(objective(first, second, plan), abs=1e-10)


def test_plan_equals_pot() -> None:
    rng = np.random.default_rng(1)
    first, second = (cdist(x, x) for x in (rng.normal(size=(17, 4)), rng.normal(size=(12, 4))))
    value, plan = gromov_plan(pack([first, second]), 0, 1)
    reference, log = ot.gromov.gromov_wasserstein2(first, second, log=True)
    assert value == pytest.approx(reference, abs=1e-12)
    np.testing.assert_allclose(plan, log["T"], atol=1e-12)


def test_fused_plan_equals_pot_where_the_step_is_interior() -> None:
    rng = np.random.default_rng(2)
    points = [rng.normal(size=(k, 3)) for k in (9, 14)]
    kernels = [np.exp(-cdist(x, x)) for x in points]  # similarities: the objective is not concave
    features = [rng.normal(size=(k, 2)) for k in (9, 14)]
    value, plan = gromov_plan(pack(kernels, features), 0, 1, alpha=0.7)
    reference, log = ot.gromov.fused_gromov_wasserstein2(
        ot.dist(features[0], features[1]), kernels[0], kernels[1], alpha=0.7, log=True
    )
    assert value == pytest.approx(reference, abs=1e-9)
    np.testing.assert_allclose(plan, log["T"], atol=1e-6)
