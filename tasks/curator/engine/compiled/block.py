"""A block of models trained side by side on the CPU: one epoch is a handful of compiled passes over the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.curator.engine.compiled.edges import LearnedEdges
from tasks.curator.engine.compiled.first_pass import FirstPass
from tasks.curator.engine.compiled.second_pass import SecondPass
from tasks.curator.engine.compiled.slots import BatchSlots
from tasks.curator.engine.compiled.weights import StackedWeights
from tasks.curator.engine.settings import GraphSteps
from tasks.curator.engine.shared_tensors import SharedTensors
from tasks.curator.hyper_parameters import HyperParameters

EDGE_WEIGHTS = "edge_weights"


class Block:
    """``slots`` models of a group, each at an epoch of its own; a slot that is done takes the next model.

    After a step the first layer is computed once with the new weights: the values that validation sees are those the
    next step starts from, and their copy with dropout is written in the same pass.

    With ``graph_steps`` every model learns the weights of its edges too. The graph moves before the next step on theta,
    by the gradient at the values that were validated, without dropout; so scores, weights and graph of an epoch belong
    together until the next ``step``.
    """

    def __init__(self, shared: SharedTensors, slots: int, graph_steps: GraphSteps | None = None) -> None:
        self.shared, self.slots = shared, slots
        self._slots = BatchSlots(slots, shared.dtype, shared.ranks)
        self._weights = StackedWeights(shared.architecture, slots, shared.dtype)
        self._graph_steps, self._learned, edges = graph_steps, None, shared.edges
        if shared.support is not None:
            hidden = shared.architecture.hidden
            self._learned = LearnedEdges(shared.support, shared.senders, hidden, slots, shared.dtype)
            edges = self._learned.edges
        self._first = FirstPass(shared, edges, self._weights, self._slots)
        self._second = SecondPass(shared, edges, self._weights, slots)
        self._stale = True

    def load(self, slot: int, configuration: HyperParameters, weights: dict[str, NDArray[Any]] | None = None) -> None:
        """Puts a model into a slot, at its start or with the given weights."""
        self._weights.put(slot, self.shared.start if weights is None else weights)
        self._slots.load(slot, configuration)
        self._first.load(slot)
        if self._learned is not None:
            self._learned.put(slot, None if weights is None else weights[EDGE_WEIGHTS])
        self._stale = True

    def clear(self, slot: int) -> None:
        """Leaves a slot idle."""
        self._slots.clear(slot)

    def step(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One epoch of every slot; then the mean validation cross-entropy and accuracy, (evaluations, slots) each."""
        self._refresh()
        if self._learned is not None and self._slots.ages.any():
            self._step_graph(self._learned)
        self._second.loss_backward(self._first.dropped)
        self._slots.advance()
        self._first.backward(self._second.message, self._second.own_message)
        self._first.step_weights()
        self._first.forward()
        return self._second.validate(self._first.active)

    def logits(self, slot: int) -> NDArray[Any]:
        """Logits (N, classes) of a slot's model."""
        self._refresh()
        return self._second.logits(self._first.active)[..., slot]

    def predict(self, slot: int, l_y: int) -> NDArray[np.float64]:
        """Log-probabilities (N, classes) of a slot's model."""
        self._refresh()
        return self._second.predict(self._first.active, l_y)[..., slot]

    def weights(self, slot: int) -> dict[str, NDArray[Any]]:
        """Copies of a slot's weights by name, matrices as (inputs, outputs), and of the edges' if they are learned."""
        weights = self._weights.copied(slot)
        if self._learned is not None:
            weights[EDGE_WEIGHTS] = self._learned.copied(slot)
        return weights

    def _refresh(self) -> None:
        """Hidden values for slots that have been loaded since the last step; the others' stay as they are."""
        if self._stale:
            if self._learned is not None:
                self._learned.update()
            self._first.forward()
            self._stale = False

    def _step_graph(self, learned: LearnedEdges) -> None:
        """The graph's steps of every model that has trained an epoch."""
        assert self._graph_steps is not None  # with a support
        sizes = self._slots.graph_sizes(self._graph_steps.step_size)
        for _ in range(self._graph_steps.inner_steps):
            self._second.loss_backward(self._first.active)
            self._first.backward(self._second.message, self._second.own_message, dropout=False)
            self._weights.rest_gradient[:] = 0
            learned.step(
                self._first.gradient, self._first.projected, self.shared.row_of, self._second.message,
                self._first.active, sizes,
            )  # fmt: skip
            self._first.forward()
