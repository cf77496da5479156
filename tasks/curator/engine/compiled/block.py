"""A block of models trained side by side on the CPU: one epoch is a handful of compiled passes over the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.curator.engine.compiled.edges import LearnedEdges
from tasks.curator.engine.compiled.first_pass import FirstPass
from tasks.curator.engine.compiled.second_pass import SecondPass
from tasks.curator.engine.compiled.slots import Lanes
from tasks.curator.engine.compiled.weights import StackedWeights
from tasks.curator.engine.family import Family
from tasks.curator.engine.settings import GraphSteps
from tasks.curator.hyper_parameters import HyperParameters

EDGE_WEIGHTS = "edge_weights"


class Block:
    """``lanes`` models of a family, each at an epoch of its own; a lane that is done takes the next model.

    After a step the first layer is computed once with the new weights: the values that validation sees are those the
    next step starts from, and their copy with dropout is written in the same pass.

    With ``graph_steps`` every model learns the weights of its edges too. The graph moves before the next step on theta,
    by the gradient at the values that were validated, without dropout; so scores, weights and graph of an epoch belong
    together until the next ``step``.
    """

    def __init__(self, family: Family, lanes: int, graph_steps: GraphSteps | None = None) -> None:
        self.family, self.lanes = family, lanes
        self._lanes = Lanes(lanes, family.dtype, family.ranks)
        self._weights = StackedWeights(family.architecture, lanes, family.dtype)
        self._graph_steps, self._learned, edges = graph_steps, None, family.edges
        if family.support is not None:
            hidden = family.architecture.hidden
            self._learned = LearnedEdges(family.support, family.senders, hidden, lanes, family.dtype)
            edges = self._learned.edges
        self._first = FirstPass(family, edges, self._weights, self._lanes)
        self._second = SecondPass(family, edges, self._weights, lanes)
        self._stale = True

    def load(self, lane: int, point: HyperParameters, weights: dict[str, NDArray[Any]] | None = None) -> None:
        """Puts a model into a lane, at its start or with the given weights."""
        self._weights.put(lane, self.family.start if weights is None else weights)
        self._lanes.load(lane, point)
        self._first.load(lane)
        if self._learned is not None:
            self._learned.put(lane, None if weights is None else weights[EDGE_WEIGHTS])
        self._stale = True

    def clear(self, lane: int) -> None:
        """Leaves a lane idle."""
        self._lanes.clear(lane)

    def step(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One epoch of every lane; then the mean validation cross-entropy and accuracy, (readings, lanes) each."""
        self._refresh()
        if self._learned is not None and self._lanes.ages.any():
            self._move_graph(self._learned)
        self._second.teach(self._first.dropped)
        self._lanes.advance()
        self._first.retreat(self._second.message, self._second.own_message)
        self._first.descend()
        self._first.activate()
        return self._second.validate(self._first.active)

    def logits(self, lane: int) -> NDArray[Any]:
        """Logits (N, classes) of a lane's model."""
        self._refresh()
        return self._second.logits(self._first.active)[..., lane]

    def predict(self, lane: int, l_y: int) -> NDArray[np.float64]:
        """Log-probabilities (N, classes) of a lane's model."""
        self._refresh()
        return self._second.predict(self._first.active, l_y)[..., lane]

    def weights(self, lane: int) -> dict[str, NDArray[Any]]:
        """Copies of a lane's weights by name, matrices as (inputs, outputs), and of the edges' if they are learned."""
        weights = self._weights.copied(lane)
        if self._learned is not None:
            weights[EDGE_WEIGHTS] = self._learned.copied(lane)
        return weights

    def _refresh(self) -> None:
        """Hidden values for lanes that have been loaded since the last step; the others' stay as they are."""
        if self._stale:
            if self._learned is not None:
                self._learned.update()
            self._first.activate()
            self._stale = False

    def _move_graph(self, learned: LearnedEdges) -> None:
        """The graph's steps of every model that has trained an epoch."""
        assert self._graph_steps is not None  # with a support
        sizes = self._lanes.graph_sizes(self._graph_steps.step_size)
        for _ in range(self._graph_steps.inner_steps):
            self._second.teach(self._first.active)
            self._first.retreat(self._second.message, self._second.own_message, dropout=False)
            self._weights.rest_gradient[:] = 0
            learned.step(
                self._first.gradient, self._first.projected, self.family.row_of, self._second.message,
                self._first.active, sizes,
            )  # fmt: skip
            self._first.activate()
