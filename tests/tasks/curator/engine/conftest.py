"""A small graph of three noisy communities, and single models trained by the reference code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from tasks.client.labels import reveal_labels
from tasks.curator.calibration.joint import JointPenalties
from tasks.curator.calibration.smoothing import smoothing_matrix
from tasks.curator.engine.problem import Problem
from tasks.curator.engine.settings import GraphSteps
from tasks.curator.fitting import Fit, Targets, fit
from tasks.curator.hyper_parameters import HyperParameters
from tasks.curator.rectify import AffineSparse
from tasks.models.architecture import Architecture, xavier_weights
from tasks.models.fixed_sparse import FixedSparse
from tasks.models.networks import build_network
from tasks.seeds import generator
from tests.tasks.curator.calibration.edge_weights import WeightedNetwork
from tests.tasks.curator.calibration.joint_fitting import JointFit, fit_jointly
from tests.tasks.curator.calibration.smoothed_network import SmoothedInput, SmoothedNetwork

CPU, F64 = torch.device("cpu"), torch.float64
NODES, DIMENSIONS, CLASSES = 90, 11, 3


@dataclass(frozen=True)
class Scene:
    """A problem with what its author knows: true classes, and nodes by role."""

    problem: Problem
    classes: np.ndarray
    roles: list[np.ndarray]


def scene(seed: int = 0, features: str = "reports") -> Scene:
    """``features``: ``reports`` (few cells a row), ``full`` rows, or a ``dense`` matrix."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(CLASSES, size=NODES)
    alike = classes[:, None] == classes[None, :]
    lists = rng.random((NODES, NODES)) < np.where(alike, 0.15, 0.02)
    lists[5] = False  # an empty list
    graph = sparse.csr_array(lists.astype(np.int8))
    cells = rng.normal(size=(NODES, DIMENSIONS)) + np.eye(DIMENSIONS)[classes]
    if features == "reports":
        cells *= rng.random(cells.shape) < 0.1
    inputs: Any = AffineSparse(0.5, sparse.csr_array(cells))
    if features == "dense":
        inputs = cells.astype(np.float32)
    roles = np.split(rng.permutation(NODES), [45, 68])
    labels = reveal_labels(classes, roles[0], roles[1], classes=CLASSES, dataset="communities")
    return Scene(Problem(graph, inputs, labels, seed, smoothing_matrix(graph)), classes, roles)


def reference(
    problem: Problem, backbone: str, point: HyperParameters, epochs: int, *, form: str = "dgl",
    smooth_loss: bool = False, patience: int | None = None,
) -> tuple[Fit, Any]:  # fmt: skip
    """One model by ``fitting.fit`` in float64: its best epoch, and log-probabilities (N, classes) after the last."""
    features = problem.features
    if not isinstance(features, AffineSparse):
        features = AffineSparse(0.0, sparse.csr_array(features))
    shape = Architecture(backbone, DIMENSIONS, CLASSES)
    weight_seed, dropout_seed = (int(value) for value in generator(problem.seed).integers(2**63, size=2))
    network = build_network(shape, problem.graph, device=CPU, form=form, dtype=F64)
    network.load(xavier_weights(shape, torch.Generator().manual_seed(weight_seed)))
    operator = FixedSparse(problem.operator(), dtype=F64, device=CPU)
    inputs = SmoothedInput(features.constant, FixedSparse(features.sparse, dtype=F64, device=CPU), operator, point.l_x)
    smoothed = SmoothedNetwork(network, operator, point.l_y)
    trained = smoothed if smooth_loss else network
    targets = Targets.of(problem.labels, CPU)
    best = fit(trained, inputs, targets, point, epochs=epochs, patience=patience, dropout_seed=dropout_seed)
    return best, smoothed.logits(network.hidden(inputs)).detach().log_softmax(dim=1).numpy()


@pytest.fixture(scope="session")
def make_scene() -> Callable[..., Scene]:
    return scene


def joint_reference(
    problem: Problem, backbone: str, point: HyperParameters, steps: GraphSteps, epochs: int, normalization: str
) -> JointFit:
    """One model with its graph by ``fit_jointly`` in float64."""
    shape = Architecture(backbone, DIMENSIONS, CLASSES)
    weight_seed, dropout_seed = (int(value) for value in generator(problem.seed).integers(2**63, size=2))
    network = WeightedNetwork(shape, problem.graph, normalization=normalization, dtype=F64, device=CPU)
    network.load(xavier_weights(shape, torch.Generator().manual_seed(weight_seed)))
    operator = FixedSparse(problem.operator(), dtype=F64, device=CPU)
    cells = FixedSparse(problem.features.sparse, dtype=F64, device=CPU)
    return fit_jointly(
        network,
        SmoothedNetwork(network, operator, point.l_y),
        SmoothedInput(problem.features.constant, cells, operator, point.l_x),
        Targets.of(problem.labels, CPU),
        point,
        JointPenalties(point.lambda1, point.lambda2, steps.step_size, steps.inner_steps),
        epochs=epochs,
        patience=None,
        dropout_seed=dropout_seed,
    )


@pytest.fixture(scope="session")
def train_jointly() -> Callable[..., JointFit]:
    return joint_reference


@pytest.fixture(scope="session")
def train_alone() -> Callable[..., tuple[Fit, Any]]:
    return reference
