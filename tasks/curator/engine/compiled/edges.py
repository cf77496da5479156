"""P in the forms that the passes over the nodes read: shared by all models, or with weights of each model's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tasks.curator.engine.compiled.operators import Csr
from tasks.curator.engine.kernels.edge import edge_kernels


@dataclass(frozen=True, eq=False)
class Edges:
    """Values are (entries,) when shared, (entries, slots) when not.

    Attributes:
        propagation: P (N, N).
        transposed: of P.
        senders_transposed: the transpose of the rows of P that send a gradient back, (N, rows).
    """

    propagation: Csr
    transposed: Csr
    senders_transposed: Csr

    @classmethod
    def shared(cls, propagation: csr_array, senders: NDArray[np.int64], dtype: type) -> Edges:
        """One P for all models; ``senders`` lists the rows that send back."""
        return cls(*(Csr.of(matrix, dtype) for matrix in (propagation, propagation.T, propagation[senders].T)))


@dataclass(frozen=True, eq=False)
class Support:
    """Where the learned weights of a graph lie in P.

    Attributes:
        pattern: P (N, N) of the graph's own weights, with an entry for every node itself.
        diagonal: (N,) index of each node's own entry.
        learned: indices of the graph's stored entries that are learned; for GCN not the diagonal, which is one.
        stored: the same entries' indices among the graph's stored ones.
        reported: their weights.
        start: (entries,) the weights in P's order that are not yet normalised.
        entries: E, the graph's stored ones.
        symmetric: GCN's normalisation by both ends.
    """

    pattern: csr_array
    diagonal: NDArray[np.int64]
    learned: NDArray[np.int64]
    stored: NDArray[np.int64]
    reported: NDArray[Any]
    start: NDArray[Any]
    entries: int
    symmetric: bool

    @classmethod
    def of(cls, graph: csr_array, *, loops: bool, symmetric: bool, dtype: type) -> Support:
        """``loops``: GCN's self-loops of one, whatever the graph says."""
        nodes = graph.shape[0]
        rows = np.repeat(np.arange(nodes), np.diff(graph.indptr))
        # Entries are numbered from 1 so that the numbers can be stored; own entries that nobody stored get none.
        numbers = csr_array((np.arange(1.0, graph.nnz + 1), (rows, graph.indices)), shape=graph.shape)
        everyone = csr_array((np.full(nodes, graph.nnz + 1.0), (np.arange(nodes),) * 2), shape=graph.shape)
        pattern = csr_array(numbers + everyone)
        pattern.sort_indices()
        own = pattern.data > graph.nnz
        stored = np.where(own, pattern.data - graph.nnz - 1, pattern.data).astype(np.int64) - 1
        known = (stored >= 0) & ~(own & loops)
        weights = np.where(own & loops, 1.0, 0.0)
        weights[known] = graph.data[stored[known]]
        learned = np.flatnonzero(known)
        return cls(
            pattern, np.flatnonzero(own), learned, stored[learned], weights[learned].astype(dtype),
            weights.astype(dtype), graph.nnz, symmetric,
        )  # fmt: skip


class LearnedEdges:
    """Weights of each model's own on a support, and the P that follows from them."""

    def __init__(self, support: Support, senders: NDArray[np.int64], hidden: int, slots: int, dtype: Any) -> None:
        self._support = support
        self._kernels = edge_kernels(hidden, slots)
        count = len(support.start)
        self._weights, self._gradient = np.zeros((2, count, slots), dtype=dtype)
        self._degrees, self._pull = np.zeros((2, *support.diagonal.shape, slots), dtype=dtype)
        numbers = csr_array(support.pattern)
        numbers.data = np.arange(count, dtype=np.float64)
        forms, self._orders = [], []
        for matrix in (numbers, numbers.T, numbers[senders].T):
            form = Csr.of(matrix, np.int64)
            self._orders.append(form.values)
            forms.append(Csr(form.starts, form.columns, np.zeros((len(form.values), slots), dtype=dtype)))
        self.edges = Edges(*forms)
        for slot in range(slots):
            self.put(slot, None)

    def put(self, slot: int, weights: NDArray[Any] | None) -> None:
        """The graph's own weights, or those of ``copied``; ``update`` must follow."""
        self._weights[:, slot] = self._support.start
        if weights is not None:
            self._weights[self._support.learned, slot] = weights[self._support.stored]

    def copied(self, slot: int) -> NDArray[Any]:
        """Weights (E,) in the order of the graph's stored entries; entries without influence are one."""
        weights = np.ones(self._support.entries, dtype=self._weights.dtype)
        weights[self._support.stored] = self._weights[self._support.learned, slot]
        return weights

    def update(self) -> None:
        """P from the weights."""
        support, form = self._support, self.edges.propagation
        self._kernels.normalise(
            form.starts, form.columns, self._weights, support.diagonal, support.symmetric, self._degrees, form.values
        )
        for form, order in zip((self.edges.transposed, self.edges.senders_transposed), self._orders[1:], strict=True):
            self._kernels.permute(self.edges.propagation.values, order, form.values)

    def step(
        self,
        before: NDArray[Any],
        projected: NDArray[Any],
        row_of: NDArray[np.int32],
        message: NDArray[Any],
        active: NDArray[Any],
        sizes: NDArray[Any],
    ) -> None:
        """One step of every model's graph; see ``edge_kernels`` for the arguments."""
        self._kernels.differentiate(
            *self.edges.propagation.arrays, self._support.symmetric, self._degrees, before, projected, row_of,
            message, active, self._pull, self._gradient,
        )  # fmt: skip
        self._kernels.step(self._support.learned, self._support.reported, self._gradient, sizes, self._weights)
        self.update()
