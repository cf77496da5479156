"""Training of one backbone on one pair of reports, chosen among a grid by validation accuracy.

Solitude, eq. 13: cross-entropy on the training nodes, Adam, at most 500 epochs. Nothing here knows a test label:
``LabelReport`` has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

import numpy as np
import pandas as pd
import torch
from scipy import sparse

from tasks.curator.fitting import Fit, Targets, fit
from tasks.curator.hyper_parameters import HyperParameters
from tasks.curator.rectify import AffineSparse
from tasks.curator.trained import SEARCH_COLUMNS, Trained
from tasks.errors import UserError
from tasks.models.affine_input import affine_input
from tasks.models.architecture import HIDDEN, Architecture, Backbone, xavier_weights
from tasks.models.networks import Device, Form, build_network, resolve, set_threads
from tasks.models.propagation import Normalization
from tasks.reports.label import LabelReport
from tasks.seeds import generator

EPOCHS = 500


def train(
    adjacency: sparse.csr_array,
    features: AffineSparse,
    labels: LabelReport,
    *,
    backbone: Backbone,
    grid: Sequence[HyperParameters],
    seed: int | None,
    epochs: int = EPOCHS,
    patience: int | None = None,
    hidden: int = HIDDEN,
    normalization: Normalization = "symmetric",
    device: Device = "auto",
    form: Form = "auto",
    threads: int = 1,
) -> Trained:
    """Trains every configuration of ``grid`` and returns the best by validation accuracy (ties: lower validation loss).

    Args:
        adjacency: the graph in use (N, N), row i = what node i reported.
        features: rectified features (N, d) as constant + sparse.
        labels: labels of the training and validation nodes.
        backbone: ``gcn`` or ``sage``.
        grid: the configurations to try. Each one starts from the same weights and dropout seed, so that its
            run does not depend on the configurations around it.
        seed: of the initial weights and the dropout masks; None draws it from the operating system.
        epochs: at most this many steps of full-batch Adam per configuration; validation after each.
        patience: stop a configuration after this many epochs without a better validation score; None never stops.
        hidden: width between the layers.
        normalization: of GCN's propagation, ``symmetric`` or ``mean``.
        device: ``auto``, ``cpu`` or ``cuda``.
        form: ``dgl`` layers or plain ``torch``; ``auto`` takes dgl on the CPU.
        threads: of torch and dgl in this process, left so afterwards (resetting would race with
            training in other threads). With one thread the same seed gives the same bytes.

    Raises:
        UserError: for shapes that do not fit, an empty grid or role, or a grid on which every configuration diverges.
    """
    _check(adjacency, features, labels, epochs, patience)
    where, how = resolve(device, form)
    set_threads(threads, how)
    architecture = Architecture(backbone, features.sparse.shape[1], labels.classes, hidden)
    network = build_network(architecture, adjacency, normalization=normalization, device=where, form=how)
    inputs = affine_input(features.constant, features.sparse, dtype=torch.float32, device=where)
    targets = Targets.of(labels, where)
    weight_seed, dropout_seed = (int(value) for value in generator(seed).integers(2**63, size=2))
    start = xavier_weights(architecture, torch.Generator().manual_seed(weight_seed))

    best_model: Fit | None = None
    chosen = 0
    rows: list[tuple[float, ...]] = []
    for index, configuration in enumerate(grid):
        network.load(start)
        run = fit(network, inputs, targets, configuration, epochs=epochs, patience=patience, dropout_seed=dropout_seed)
        if best_model is None or run.score.beats(best_model.score):
            best_model, chosen = run, index
        rows.append((*astuple(configuration), run.epoch, *astuple(run.score)))
    if best_model is None:
        raise UserError("the grid is empty; give at least one hyper-parameter configuration")
    if best_model.epoch == 0:
        raise UserError("training diverged in its first epoch at every configuration; lower the learning rates")
    return Trained(
        backbone=backbone,
        log_probabilities=torch.log_softmax(best_model.logits, dim=1).cpu().numpy(),
        weights={name: np.ascontiguousarray(value.cpu().numpy()) for name, value in best_model.weights.items()},
        search=pd.DataFrame(rows, columns=list(SEARCH_COLUMNS)),
        chosen=chosen,
    )


def _check(
    adjacency: sparse.csr_array, features: AffineSparse, labels: LabelReport, epochs: int, patience: int | None
) -> None:
    nodes = features.sparse.shape[0]
    if adjacency.shape != (nodes, nodes):
        raise UserError(
            f"the graph has shape {adjacency.shape} but the features have {nodes} rows; give one row per node"
        )
    if epochs < 1 or (patience is not None and patience < 1):
        raise UserError(f"epochs {epochs}, patience {patience}: use at least 1")
    for role, listed in (("training", labels.train_nodes), ("validation", labels.validation_nodes)):
        if len(listed) == 0:
            raise UserError(f"no {role} node has a label; give a split with some")
        if listed.max() >= nodes:
            raise UserError(f"{role} node {listed.max()} is not one of the graph's {nodes} nodes")
