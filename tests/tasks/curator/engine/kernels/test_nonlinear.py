"""Vector functions against the C library and torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numba import njit

from tasks.curator.engine.kernels.nonlinear import exponential, selu, selu_slope
from tasks.curator.engine.kernels.vector_ops import fold, load, load_interleaved, store, tile

TYPES = (np.float32, np.float64)
WIDTH = 8


def applied(function, values):
    """The function on an array whose length is a multiple of the width."""

    @njit
    def run(source, out):
        for index in range(len(source) // WIDTH):
            store(out, index, function(load(source, index, WIDTH)))

    out = np.empty_like(values)
    run(values, out)
    return out


@pytest.mark.parametrize("dtype", TYPES)
def test_the_exponential_is_good_to_a_few_units_in_the_last_place(dtype):
    x = np.linspace(-80, 0, 8000).astype(dtype)
    exact = np.exp(x.astype(np.longdouble))
    assert np.abs(applied(exponential, x) / exact - 1).max() < 4 * np.finfo(dtype).eps
    far = applied(exponential, np.full(WIDTH, -1e6, dtype=dtype))
    assert (far > 0).all() and (far < 2e-35).all()
    assert np.isnan(applied(exponential, np.full(WIDTH, np.nan, dtype=dtype))).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_selu_and_its_slope_are_torchs(dtype):
    x = np.concatenate([np.linspace(-30, 5, 7992), [0.0, -0.0, 1e-30, -1e-30, 1e4, -1e4, 2.0, -2.0]]).astype(dtype)
    tensor = torch.from_numpy(x).double().requires_grad_()
    expected = torch.selu(tensor)
    expected.sum().backward()
    y = applied(selu, x)
    tolerance = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(y, expected.detach(), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(applied(selu_slope, y), tensor.grad, rtol=tolerance, atol=tolerance)
    assert np.isnan(applied(selu, np.full(WIDTH, np.nan, dtype=dtype))).all()


def test_pieces_are_moved_and_summed_as_said():
    @njit
    def run(source, indices, folded, tiled, mixed):
        row = load(source, 1, 12)
        store(folded, 0, fold(row, 4))
        store(tiled, 0, tile(load(source, 0, 4), 3))
        store(mixed, 0, load_interleaved(source, indices, 3, 2))

    source = np.arange(24.0)
    folded, tiled, mixed = np.zeros(4), np.zeros(12), np.zeros(6)
    run(source, np.array([2, 5]), folded, tiled, mixed)
    np.testing.assert_array_equal(folded, source[12:].reshape(3, 4).sum(axis=0))
    np.testing.assert_array_equal(tiled, np.tile(source[:4], 3))
    np.testing.assert_array_equal(mixed, [6, 15, 7, 16, 8, 17])
