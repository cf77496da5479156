from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from tasks.curator.calibration.smoothing import smooth, smoothing_matrix
from tasks.models.affine_input import affine_input
from tasks.models.architecture import BACKBONES, Architecture, xavier_weights
from tasks.models.fixed_sparse import FixedSparse
from tasks.models.networks import build_network
from tests.tasks.curator.calibration.smoothed_network import SmoothedInput, SmoothedNetwork, smoothed_log_probabilities

CPU, F64 = torch.device("cpu"), torch.float64
RNG = np.random.default_rng(0)
NODES = 20
GRAPH = sparse.csr_array((RNG.random((NODES, NODES)) < 0.15).astype(np.int8))
OPERATOR = smoothing_matrix(GRAPH)
CELLS = sparse.random_array((NODES, 9), density=0.1, rng=RNG, format="csr")


def operator() -> FixedSparse:
    return FixedSparse(OPERATOR, dtype=F64, device=CPU)


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_projecting_first_is_smoothing_first(steps: int) -> None:
    smoothed = smooth(OPERATOR, 0.5 + CELLS.toarray(), steps)
    weight = RNG.normal(size=(9, 5))
    inputs = SmoothedInput(0.5, FixedSparse(CELLS, dtype=F64, device=CPU), operator(), steps)
    np.testing.assert_allclose(inputs.project(torch.from_numpy(weight)), smoothed @ weight, atol=1e-12)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_probabilities_are_smoothed_then_normalised_then_logged(steps: int) -> None:
    logits = torch.from_numpy(RNG.normal(size=(NODES, 4))).requires_grad_()
    likely = smooth(OPERATOR, torch.softmax(logits, dim=1).detach().numpy(), steps)
    expected = np.log(likely / likely.sum(axis=1, keepdims=True))
    result = smoothed_log_probabilities(logits, operator(), steps)
    np.testing.assert_allclose(result.detach(), expected, atol=1e-12)
    assert torch.autograd.gradcheck(lambda x: smoothed_log_probabilities(x, operator(), steps), (logits,))


def test_certain_predictions_stay_finite() -> None:
    logits = torch.full((NODES, 3), -1e4, dtype=F64)
    logits[:, 0] = 1e4
    assert torch.isfinite(smoothed_log_probabilities(logits, operator(), 2)).all()


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_wrapped_network_trains_the_same_weights(backbone) -> None:
    architecture = Architecture(backbone, 9, 3, hidden=4)
    inner = build_network(architecture, GRAPH, device=CPU, form="torch", dtype=F64)
    outer = SmoothedNetwork(inner, operator(), 2)
    outer.load(xavier_weights(architecture, torch.Generator().manual_seed(0)))
    inputs = affine_input(0.5, CELLS, dtype=F64, device=CPU)
    outer.logits(outer.hidden(inputs))[0, 0].backward()
    assert [id(weight) for weight in outer.parameters()] == [id(weight) for weight in inner.parameters()]
    assert all(weight.grad is not None for weight in inner.parameters())
    assert outer.weights().keys() == inner.weights().keys()
