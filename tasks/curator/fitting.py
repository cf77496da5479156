"""One training run at one hyper-parameter configuration: full-batch Adam with validation after every epoch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from tasks.curator.hyper_parameters import HyperParameters, ValidationScore
from tasks.models.affine_input import AffineInput
from tasks.models.networks import Network
from tasks.reports.label import LabelReport


@dataclass(frozen=True)
class Targets:
    """Training and validation nodes with their labels, as tensors on the network's device."""

    train_nodes: Tensor
    train_labels: Tensor
    validation_nodes: Tensor
    validation_labels: Tensor

    @classmethod
    def of(cls, labels: LabelReport, device: torch.device) -> Targets:
        """Moves a label report to a device."""
        arrays = (labels.train_nodes, labels.train_labels, labels.validation_nodes, labels.validation_labels)
        return cls(*(torch.as_tensor(array, dtype=torch.int64).to(device) for array in arrays))


@dataclass(frozen=True)
class Fit:
    """The best epoch of a run (from 1; 0 when the first one already diverged), its logits (N, classes) and weights."""

    epoch: int
    score: ValidationScore
    logits: Tensor
    weights: dict[str, Tensor]


def fit(
    network: Network,
    features: AffineInput,
    targets: Targets,
    configuration: HyperParameters,
    *,
    epochs: int,
    patience: int | None,
    dropout_seed: int,
) -> Fit:
    """Trains the network in place from its current weights and returns its best epoch on the validation nodes.

    Weight decay is Adam's L2 term on every weight, biases included. The first layer is computed once an epoch:
    the values that validation sees after a step are those the next step starts from, before its dropout.
    A loss that is no longer finite ends the run.
    """
    optimizer = torch.optim.Adam(
        network.parameters(), lr=configuration.learning_rate, weight_decay=configuration.weight_decay, fused=True
    )
    hidden = network.hidden(features)
    masks = torch.Generator(hidden.device).manual_seed(dropout_seed)
    best = Fit(0, ValidationScore(0.0, math.inf), hidden.detach(), {})
    for epoch in range(1, epochs + 1):
        logits = network.logits(_dropout(hidden, configuration.dropout, masks))
        loss = functional.cross_entropy(logits[targets.train_nodes], targets.train_labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hidden = network.hidden(features)
        with torch.no_grad():
            logits = network.logits(hidden)
            score = _validate(logits, targets)
        if not math.isfinite(score.loss):
            break
        if score.beats(best.score):
            best = Fit(epoch, score, logits, {name: w.detach().clone() for name, w in network.weights().items()})
        elif patience is not None and epoch - best.epoch >= patience:
            break
    return best


def _dropout(hidden: Tensor, share: float, masks: torch.Generator) -> Tensor:
    """Inverted dropout with an explicit generator, which torch's own does not take."""
    if share == 0:
        return hidden
    mask = torch.rand(hidden.shape, generator=masks, device=hidden.device) >= share
    return hidden * (mask / (1 - share))


def _validate(logits: Tensor, targets: Targets) -> ValidationScore:
    chosen, labels = logits[targets.validation_nodes], targets.validation_labels
    loss = functional.cross_entropy(chosen, labels).item()
    hits = (chosen.argmax(dim=1) == labels).sum().item()
    return ValidationScore(hits / len(labels), loss)
