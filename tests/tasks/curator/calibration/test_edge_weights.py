from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse
from torch.nn import functional

from tasks.errors import UserError
from tasks.models.affine_input import affine_input
from tasks.models.architecture import BACKBONES, Architecture, xavier_weights
from tasks.models.propagation import NORMALIZATIONS, propagation_matrix
from tasks.models.torch_form import TorchNetwork
from tests.tasks.curator.calibration.edge_weights import WeightedNetwork, WeightedPropagation

CPU = torch.device("cpu")
NODES, CLASSES = 14, 3
RNG = np.random.default_rng(0)
LISTS = (RNG.random((NODES, NODES)) < 0.2) * RNG.random((NODES, NODES))
LISTS[3] = 0  # a node with an empty list
LISTS[5, 5] = 0.7  # a reported self-loop
GRAPH = sparse.csr_array(LISTS)
FEATURES = affine_input(0.5, sparse.csr_array(RNG.normal(size=(NODES, 6))), dtype=torch.float64, device=CPU)
ROWS, LABELS = torch.arange(7), torch.from_numpy(RNG.integers(CLASSES, size=7))


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("backbone", BACKBONES)
def test_it_is_the_propagation_matrix_of_the_same_weights(backbone, normalization) -> None:
    step = WeightedPropagation(GRAPH, backbone, normalization, dtype=torch.float64, device=CPU)
    dense = RNG.normal(size=(NODES, 4))
    expected = propagation_matrix(GRAPH, backbone, normalization) @ dense
    np.testing.assert_allclose((step @ torch.from_numpy(dense)).detach().numpy(), expected, atol=1e-12)


def network(backbone, normalization="symmetric") -> WeightedNetwork:
    architecture = Architecture(backbone, 6, CLASSES, hidden=5)
    built = WeightedNetwork(architecture, GRAPH, normalization=normalization, dtype=torch.float64, device=CPU)
    built.load(xavier_weights(architecture, torch.Generator().manual_seed(1)))
    return built


def loss(built) -> torch.Tensor:
    return functional.cross_entropy(built.logits(built.hidden(FEATURES))[ROWS], LABELS)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_loss_reaches_every_edge_weight_through_the_message_passing(backbone, normalization) -> None:
    """Central differences over all weights, through both layers, SELU and the degrees."""
    built = network(backbone, normalization)
    edges = built.edge_weights
    (gradient,) = torch.autograd.grad(loss(built), edges)
    step, differences = 1e-6, []
    with torch.no_grad():
        for index in range(len(edges)):
            weight = edges[index].item()
            values = []
            for shift in (step, -step):
                edges[index] = weight + shift
                values.append(loss(built).item())
            edges[index] = weight
            differences.append((values[0] - values[1]) / (2 * step))
    np.testing.assert_allclose(gradient, differences, atol=1e-8)
    # Rows of nodes within one step of a training node matter; a self-loop of GCN does not.
    assert (np.abs(differences) > 1e-7).mean() > 0.5


@pytest.mark.parametrize("backbone", BACKBONES)
def test_with_fixed_weights_it_is_the_network_of_the_study(backbone) -> None:
    built = network(backbone)
    architecture = Architecture(backbone, 6, CLASSES, hidden=5)
    plain = TorchNetwork(architecture, propagation_matrix(GRAPH, backbone), dtype=torch.float64, device=CPU)
    plain.load(built.weights())
    torch.testing.assert_close(built.logits(built.hidden(FEATURES)), plain.logits(plain.hidden(FEATURES)))
    assert built.weights().keys() == plain.weights().keys()


def test_a_node_whose_weights_all_reach_zero_keeps_its_own_value() -> None:
    step = WeightedPropagation(GRAPH, "sage", dtype=torch.float64, device=CPU)
    with torch.no_grad():
        step.weights.zero_()
    dense = torch.from_numpy(RNG.normal(size=(NODES, 2)))
    torch.testing.assert_close(step @ dense, dense)


def test_an_unknown_normalisation_is_named() -> None:
    with pytest.raises(UserError, match="'max'"):
        WeightedPropagation(GRAPH, "gcn", "max", dtype=torch.float64, device=CPU)  # type: ignore[arg-type]
