"""Alternating minimisation of eq. 14 for one model: the reference that batched training is compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from tasks.curator.calibration.joint import JointPenalties, graph_step
from tasks.curator.fitting import Fit, Targets
from tasks.curator.hyper_parameters import HyperParameters, ValidationScore
from tasks.models.affine_input import AffineInput
from tests.tasks.curator.calibration.edge_weights import WeightedNetwork
from tests.tasks.curator.calibration.smoothed_network import SmoothedNetwork


@dataclass(frozen=True)
class JointFit:
    """The best epoch of a run and the edge weights (E,) that its predictions were made with."""

    fit: Fit
    edge_weights: Tensor


def fit_jointly(
    network: WeightedNetwork,
    smoothed: SmoothedNetwork,
    features: AffineInput,
    targets: Targets,
    point: HyperParameters,
    penalties: JointPenalties,
    *,
    epochs: int,
    patience: int | None,
    dropout_seed: int,
) -> JointFit:
    """Trains weights and graph in place; per epoch one Adam step on theta, then the steps on the graph.

    The graph's gradient is that of the training loss without dropout. The forward pass of its first step also
    validates: a score belongs to the theta and the graph that its predictions came from.

    Args:
        network: whose edge weights are learned; the distance term ties them to the values they start at.
        smoothed: the same network inside its prediction smoothing (0 steps for none).
        features, targets, point, epochs, patience, dropout_seed: as in ``fitting.fit``.
        penalties: of the graph.
    """
    optimizer = torch.optim.Adam(
        network.parameters(), lr=point.learning_rate, weight_decay=point.weight_decay, fused=True
    )
    edges = network.edge_weights
    reported = edges.detach().clone()
    masks = torch.Generator(edges.device).manual_seed(dropout_seed)
    best = JointFit(Fit(0, ValidationScore(0.0, math.inf), edges.detach(), {}), edges.detach().clone())
    for epoch in range(1, epochs + 1):
        hidden = network.hidden(features)
        mask = torch.rand(hidden.shape, generator=masks, device=hidden.device) >= point.dropout
        loss = _loss(smoothed.logits(hidden * (mask / (1 - point.dropout))), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for inner in range(penalties.inner_steps):
            logits = smoothed.logits(network.hidden(features))
            if inner == 0:
                score = _validation_score(logits.detach(), targets)
                if score.beats(best.fit.score):
                    weights = {name: value.detach().clone() for name, value in network.weights().items()}
                    best = JointFit(Fit(epoch, score, logits.detach(), weights), edges.detach().clone())
            (gradient,) = torch.autograd.grad(_loss(logits, targets), edges)
            with torch.no_grad():
                lambdas = (penalties.lambda1, penalties.lambda2)
                edges.copy_(graph_step(edges, gradient, *lambdas, penalties.step_size, reported))
        if not math.isfinite(score.loss) or (patience is not None and epoch - best.fit.epoch >= patience):
            break
    return best


def _loss(logits: Tensor, targets: Targets) -> Tensor:
    return functional.cross_entropy(logits[targets.train_nodes], targets.train_labels)


def _validation_score(logits: Tensor, targets: Targets) -> ValidationScore:
    rows, labels = logits[targets.validation_nodes], targets.validation_labels
    hits = (rows.argmax(dim=1) == labels).sum().item()
    return ValidationScore(hits / len(labels), functional.cross_entropy(rows, labels).item())
