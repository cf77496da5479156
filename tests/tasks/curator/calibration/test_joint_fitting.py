from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from tasks.curator.calibration.joint import JointPenalties
from tasks.curator.calibration.smoothing import smoothing_matrix
from tasks.curator.fitting import Targets, fit
from tasks.curator.hyper_parameters import HyperParameters
from tasks.models.affine_input import affine_input
from tasks.models.architecture import BACKBONES, Architecture, xavier_weights
from tasks.models.fixed_sparse import FixedSparse
from tasks.models.networks import build_network
from tests.tasks.curator.calibration.edge_weights import WeightedNetwork
from tests.tasks.curator.calibration.joint_fitting import JointFit, fit_jointly
from tests.tasks.curator.calibration.smoothed_network import SmoothedNetwork

CPU, F64 = torch.device("cpu"), torch.float64
NODES, CLASSES = 60, 2
RNG = np.random.default_rng(3)
TRUTH = np.arange(NODES) % CLASSES
ALIKE = TRUTH[:, None] == TRUTH[None, :]
GRAPH = sparse.csr_array((RNG.random((NODES, NODES)) < np.where(ALIKE, 0.15, 0.08)).astype(np.int8))
FEATURES = sparse.csr_array(np.eye(CLASSES)[TRUTH] @ RNG.normal(size=(CLASSES, 4)) + RNG.normal(size=(NODES, 4)))
POINT = HyperParameters(0.05, 0.2, 0.001)
LABELS = torch.from_numpy(TRUTH)
TARGETS = Targets(torch.arange(40), LABELS[:40], torch.arange(40, 50), LABELS[40:50])
INPUTS = affine_input(0.0, FEATURES, dtype=F64, device=CPU)


def operator() -> FixedSparse:
    return FixedSparse(smoothing_matrix(GRAPH), dtype=F64, device=CPU)


def run(backbone, penalties: JointPenalties, *, epochs: int = 30, targets: Targets = TARGETS, l_y: int = 0) -> JointFit:
    architecture = Architecture(backbone, 4, CLASSES, hidden=6)
    network = WeightedNetwork(architecture, GRAPH, dtype=F64, device=CPU)
    network.load(xavier_weights(architecture, torch.Generator().manual_seed(0)))
    smoothed = SmoothedNetwork(network, operator(), l_y)
    return fit_jointly(
        network, smoothed, INPUTS, targets, POINT, penalties, epochs=epochs, patience=None, dropout_seed=5
    )


@pytest.mark.parametrize("l_y", [0, 2])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_steps_too_small_to_matter_leave_the_ordinary_training(backbone, l_y: int) -> None:
    architecture = Architecture(backbone, 4, CLASSES, hidden=6)
    plain = build_network(architecture, GRAPH, device=CPU, form="torch", dtype=F64)
    plain.load(xavier_weights(architecture, torch.Generator().manual_seed(0)))
    smoothed = SmoothedNetwork(plain, operator(), l_y)
    expected = fit(smoothed, INPUTS, TARGETS, POINT, epochs=30, patience=None, dropout_seed=5)
    result = run(backbone, JointPenalties(1e-3, 1e-3, step_size=1e-12), l_y=l_y)
    assert (result.fit.epoch, result.fit.score.accuracy) == (expected.epoch, expected.score.accuracy)
    torch.testing.assert_close(result.fit.logits, expected.logits, atol=1e-6, rtol=0)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_graph_changes_and_edges_differ(backbone) -> None:
    """What the released code of the source never does."""
    weights = run(backbone, JointPenalties(1e-3, 1e-3), epochs=60).edge_weights
    assert weights.shape == (GRAPH.nnz,) and weights.min() >= 0 and weights.max() <= 1
    assert len(weights.unique()) > 10


def test_a_heavy_l1_penalty_empties_the_graph_and_a_heavy_distance_keeps_it() -> None:
    emptied = run("sage", JointPenalties(1e-4, 10.0), epochs=30)
    assert emptied.fit.epoch == 1 or (emptied.edge_weights == 0).all()
    kept = run("sage", JointPenalties(1e3, 0.0), epochs=30)
    torch.testing.assert_close(kept.edge_weights, torch.ones_like(kept.edge_weights), atol=1e-3, rtol=0)


def test_predictions_belong_to_the_returned_weights_and_graph() -> None:
    result = run("gcn", JointPenalties(1e-3, 1e-4), epochs=40)
    graph = GRAPH.astype(np.float64)
    graph.data = result.edge_weights.numpy()
    network = build_network(Architecture("gcn", 4, CLASSES, hidden=6), graph, device=CPU, form="torch", dtype=F64)
    network.load(result.fit.weights)
    logits = network.logits(network.hidden(INPUTS)).log_softmax(dim=1)
    torch.testing.assert_close(result.fit.logits.log_softmax(dim=1), logits.detach())


def test_it_is_reproducible_and_blind_to_validation_labels_until_it_chooses() -> None:
    penalties = JointPenalties(1e-3, 1e-4)
    turned = Targets(TARGETS.train_nodes, TARGETS.train_labels, TARGETS.validation_nodes, 1 - TARGETS.validation_labels)
    first, second, other = (run("sage", penalties, epochs=1, targets=t) for t in (TARGETS, TARGETS, turned))
    assert torch.equal(first.fit.logits, second.fit.logits)
    assert torch.equal(first.fit.logits, other.fit.logits)
    assert first.fit.score != other.fit.score


def test_more_inner_steps_move_the_graph_further() -> None:
    moves = []
    for inner in (1, 5):
        penalties = JointPenalties(1e-3, 1e-3, step_size=1.0, inner_steps=inner)
        weights = run("gcn", penalties, epochs=20).edge_weights
        moves.append(float((1 - weights).abs().mean()))
    assert moves[1] > moves[0]
