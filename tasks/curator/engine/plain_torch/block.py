"""The same block in torch: what runs on a GPU, and the check of the compiled form by autograd.

All models of a block share one sparse product per stage, (N, N) @ (N, hidden * slots). Losses of the models are added;
since no slot touches another, the gradient of the sum is every model's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from tasks.curator.engine.compiled.block import EDGE_WEIGHTS
from tasks.curator.engine.compiled.slots import BatchSlots
from tasks.curator.engine.compiled.weights import StackedWeights
from tasks.curator.engine.plain_torch.edges import LearnedPropagation, StackedSparse
from tasks.curator.engine.settings import GraphSteps
from tasks.curator.engine.shared_tensors import SharedTensors
from tasks.curator.hyper_parameters import HyperParameters


class TorchBlock:
    """``Block`` on a torch device; see there for the methods."""

    def __init__(
        self,
        shared: SharedTensors,
        slots: int,
        graph_steps: GraphSteps | None = None,
        device: str | torch.device = "cpu",
    ) -> None:
        self.shared, self.slots, self._graph_steps = shared, slots, graph_steps
        self._device = torch.device(device)
        self._slots = BatchSlots(slots, shared.dtype, shared.ranks)
        # The stacked arrays stay the owners of names and shapes: they are written here and sent to the device.
        self._stack = StackedWeights(shared.architecture, slots, shared.dtype)
        self._first, self._rest = self._to_device(self._stack.first), self._to_device(self._stack.rest)
        self._moments = [torch.zeros_like(array) for array in (self._first, self._first, self._rest, self._rest)]
        first, sparse = shared.first, self._sparse
        self._row_scales, self._reach = self._to_device(first.row_scales), self._to_device(first.reach)
        self._fused = None if first.fused is None else sparse(first.fused, (shared.nodes, len(self._first)))
        dimensions = shared.architecture.dimensions
        self._project = None if first.project is None else sparse(first.project, (shared.nodes, dimensions))
        self._dense = None if first.dense is None else self._to_device(first.dense)
        square = (shared.nodes, shared.nodes)
        self._smooth = None if shared.smooth is None else sparse(shared.smooth, square)
        self._smooth_features = None if first.smooth is None else sparse(first.smooth, square)
        self._learned = None
        self._propagation: Any
        if shared.support is not None:
            self._learned = self._propagation = LearnedPropagation(shared.support, slots, self._device)
        else:
            self._propagation = sparse(shared.edges.propagation, square)
        self._training, self._targets = self._to_device(shared.training_rows), self._to_device(shared.targets)
        self._validation_rows, self._labels = (
            self._to_device(shared.validation_rows),
            self._to_device(shared.validation_labels),
        )
        self._hidden: Tensor | None = None

    def load(self, slot: int, configuration: HyperParameters, weights: dict[str, NDArray[Any]] | None = None) -> None:
        """Puts a model into a slot, at its start or with the given weights."""
        self._stack.put(slot, self.shared.start if weights is None else weights)
        self._first[..., slot] = self._to_device(self._stack.first[..., slot])
        self._rest[..., slot] = self._to_device(self._stack.rest[..., slot])
        for moment in self._moments:
            moment[..., slot] = 0
        if self._learned is not None:
            self._learned.put(slot, None if weights is None else weights[EDGE_WEIGHTS])
        self._slots.load(slot, configuration)
        self._hidden = None

    def clear(self, slot: int) -> None:
        """Leaves a slot idle."""
        self._slots.clear(slot)

    def step(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One epoch of every slot; then the mean validation cross-entropy and accuracy, (evaluations, slots) each."""
        if self._learned is not None and self._slots.ages.any():
            self._step_graph(self._learned)
        first, rest = self._first.requires_grad_(), self._rest.requires_grad_()
        loss = self._loss(self._dropout(self._activated()))
        gradients = torch.autograd.grad(loss, (first, rest))
        self._slots.advance()
        with torch.no_grad():
            self._first, self._rest = first.detach(), rest.detach()
            self._step_weights(self._first, gradients[0], *self._moments[:2])
            self._step_weights(self._rest, gradients[1], *self._moments[2:])
            self._hidden = self._activated()
            return self._validated(self._hidden)

    def logits(self, slot: int) -> NDArray[Any]:
        """Logits (N, classes) of a slot's model."""
        with torch.no_grad():
            return self._logits(self._current())[..., slot].cpu().numpy()

    def predict(self, slot: int, l_y: int) -> NDArray[np.float64]:
        """Log-probabilities (N, classes) of a slot's model."""
        with torch.no_grad():
            return self._log_shares(self._logits(self._current()), l_y)[..., slot].double().cpu().numpy()

    def weights(self, slot: int) -> dict[str, NDArray[Any]]:
        """Copies of a slot's weights by name, matrices as (inputs, outputs), and of the edges' if they are learned."""
        self._stack.first[..., slot] = self._first[..., slot].cpu().numpy()
        self._stack.rest[..., slot] = self._rest[..., slot].cpu().numpy()
        weights = self._stack.copied(slot)
        if self._learned is not None:
            weights[EDGE_WEIGHTS] = self._learned.copied(slot)
        return weights

    def _to_device(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.array(array)).to(self._device)

    def _sparse(self, csr: Any, shape: tuple[int, int]) -> StackedSparse:
        return StackedSparse(csr, shape, self._device)

    def _parts(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Views of the small weights: near, own (classes, hidden, slots), bias, first_bias."""
        shape, count = self.shared.architecture, self.shared.first.matrices
        square = shape.classes * shape.hidden
        sizes = [square, (count - 1) * square, shape.classes, shape.hidden]
        near, own, bias, first_bias = torch.split(self._rest, sizes)
        matrix = (-1, shape.hidden, self.slots)
        return near.reshape(matrix), own.reshape(matrix), bias, first_bias

    def _current(self) -> Tensor:
        if self._hidden is None:
            self._hidden = self._activated()
        return self._hidden

    def _activated(self) -> Tensor:
        """Hidden values (N, hidden, slots) without dropout."""
        first, bias = self.shared.first, self._parts()[3]
        matrices = self._first.chunk(first.matrices)
        sums = first.constant * torch.stack([matrix.sum(dim=0) for matrix in matrices])
        if self._fused is not None:
            received = self._fused @ self._first
        else:
            *own, near = [self._projected(matrix) for matrix in matrices]
            if self._learned is not None:
                near = near + self._reach[:, None, None] * sums[-1]
                sums = sums[:-1]
            received = self._propagation @ near + (own[0] if own else 0)
        constants = torch.einsum("mn,mhl->nhl", self._row_scales[: len(sums)], sums)
        return functional.selu(received + constants + bias)

    def _projected(self, matrix: Tensor) -> Tensor:
        if self._dense is not None:
            return torch.einsum("nd,dhl->nhl", self._dense, matrix)
        assert self._project is not None  # one of the two in the staged form
        out = self._project @ matrix
        for _ in range(self.shared.first.steps):
            assert self._smooth_features is not None
            out = self._smooth_features @ out
        return out

    def _dropout(self, hidden: Tensor) -> Tensor:
        draws = self._slots.draws()
        ranks = self._to_device(self.shared.ranks.ranks[draws]).permute(1, 2, 0)
        mask = ranks > self._to_device(self._slots.thresholds)
        return hidden * mask * self._to_device(self._slots.dropout_scale)

    def _logits(self, hidden: Tensor) -> Tensor:
        near, own, bias, _ = self._parts()
        logits = self._propagation @ torch.einsum("nhl,chl->ncl", hidden, near) + bias
        return logits + torch.einsum("nhl,chl->ncl", hidden, own) if len(own) else logits

    def _log_shares(self, logits: Tensor, steps: int) -> Tensor:
        if steps == 0:
            return functional.log_softmax(logits, dim=1)
        shares = torch.softmax(logits, dim=1)
        for _ in range(steps):
            assert self._smooth is not None
            shares = self._smooth @ shares
        shares = shares / shares.sum(dim=1, keepdim=True)
        return shares.clamp_min(torch.finfo(logits.dtype).tiny).log()

    def _loss(self, hidden: Tensor) -> Tensor:
        """The models' training losses, added."""
        logs = self._log_shares(self._logits(hidden), self.shared.loss_smoothing)[self._training]
        return -(logs * self._targets[:, :, None]).sum() / len(self._training)

    def _validated(self, hidden: Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        logits, losses, hits = self._logits(hidden), [], []
        for steps in self.shared.evaluations:
            logs = self._log_shares(logits, steps)[self._validation_rows]
            indices = self._labels[:, None, None].expand(-1, 1, self.slots)
            losses.append(-logs.gather(1, indices).squeeze(1).double().mean(dim=0))
            hits.append((logs.argmax(dim=1) == self._labels[:, None]).double().mean(dim=0))
        return torch.stack(losses).cpu().numpy(), torch.stack(hits).cpu().numpy()

    def _step_weights(self, weight: Tensor, gradient: Tensor, moment: Tensor, square: Tensor) -> None:
        rate, decay, correction = self._to_device(self._slots.step)
        gradient = gradient + decay * weight
        moment.lerp_(gradient, 0.1)
        square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        weight -= rate * moment / (square.sqrt() * correction + 1e-8)

    def _step_graph(self, learned: LearnedPropagation) -> None:
        """The graph's steps of every model that has trained an epoch."""
        assert self._graph_steps is not None  # with a support
        sizes = self._to_device(self._slots.graph_sizes(self._graph_steps.step_size))
        for _ in range(self._graph_steps.inner_steps):
            weights = learned.weights.requires_grad_()
            (gradient,) = torch.autograd.grad(self._loss(self._activated()), weights)
            learned.step(gradient, sizes)
        self._hidden = None
