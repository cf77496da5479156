"""The raw data of a study: what the users hold before any mechanism has run."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tasks.datasets.kinds import Kind
from tasks.errors import UserError


@dataclass(frozen=True, eq=False)
class RawGraph:
    """An undirected graph with optional node features and labels, as its users hold it.

    ``repr`` shows the name alone, so that a private graph cannot slip into a log.

    Attributes:
        name: name of the data set.
        adjacency: (N, N) int8, symmetric, 0/1, no self-loops, sorted indices, no stored zeros.
        features: (N, d) float32 in ``feature_bounds``, or None.
        labels: (N,) int64, one class per node, -1 where unknown, or None.
        label_sets: (N, L) uint8, 0/1, for multi-label data, or None.
        feature_bounds: (low, high), declared with the data set and never read from the values.
        notes: remarks for the ledger.
        private: True for a user's own data; fails closed.

    Raises:
        UserError: for features that are not finite or leave the declared bounds.
        ValueError: when an array breaks its declared form.
    """

    name: str
    adjacency: csr_array = field(repr=False)
    features: csr_array | None = field(default=None, repr=False)
    labels: NDArray[np.int64] | None = field(default=None, repr=False)
    label_sets: csr_array | None = field(default=None, repr=False)
    feature_bounds: tuple[float, float] = (0.0, 1.0)
    notes: tuple[str, ...] = ()
    private: bool = True

    def __post_init__(self) -> None:
        check_adjacency(self.name, self.adjacency)
        if self.features is not None:
            check_form(self.name, "features", self.features, np.float32, self.nodes)
            check_bounds(self.name, self.features, self.feature_bounds)
        if self.labels is not None:
            require(self.name, "labels: int64 of shape (N,)", is_vector(self.labels, self.nodes))
            require(self.name, "labels: -1 or a class number", bool((self.labels >= -1).all()))
        if self.label_sets is not None:
            check_form(self.name, "label sets", self.label_sets, np.uint8, self.nodes)
            require(self.name, "label sets: 0 or 1", bool((self.label_sets.data == 1).all()))

    @property
    def nodes(self) -> int:
        """Number of nodes N."""
        return int(self.adjacency.shape[0])

    @property
    def kind(self) -> Kind:
        """What carries the classes."""
        if self.label_sets is not None:
            return "label sets"
        return "no classes" if self.labels is None else "nodes"

    @property
    def edges(self) -> int:
        """Number of undirected edges."""
        return int(self.adjacency.nnz) // 2

    @property
    def dimensions(self) -> int:
        """Number of features d; 0 without features."""
        return 0 if self.features is None else int(self.features.shape[1])

    @property
    def classes(self) -> int:
        """Number of classes; 0 without labels."""
        if self.label_sets is not None:
            return int(self.label_sets.shape[1])
        return 0 if self.labels is None else int(self.labels.max(initial=-1)) + 1


@dataclass(frozen=True, eq=False)
class RawGraphSet:
    """Many small graphs, each with one class.

    Attributes:
        name: name of the data set.
        graphs: the G graphs.
        labels: (G,) int64, -1 where unknown.
        notes: remarks for the ledger.
        private: True for a user's own data.
    """

    name: str
    graphs: tuple[RawGraph, ...] = field(repr=False)
    labels: NDArray[np.int64] = field(repr=False)
    notes: tuple[str, ...] = ()
    private: bool = True

    def __post_init__(self) -> None:
        require(self.name, "labels: int64 of shape (G,)", is_vector(self.labels, len(self.graphs)))
        require(self.name, "labels: -1 or a class number", bool((self.labels >= -1).all()))
        require(self.name, "one feature width", len({graph.dimensions for graph in self.graphs}) <= 1)

    @property
    def dimensions(self) -> int:
        """Number of node features d; 0 without features."""
        return self.graphs[0].dimensions if self.graphs else 0

    @property
    def kind(self) -> Kind:
        """What carries the classes."""
        return "graphs"

    @property
    def classes(self) -> int:
        """Number of graph classes."""
        return int(self.labels.max(initial=-1)) + 1


def undirected(nodes: int, heads: NDArray[np.integer], tails: NDArray[np.integer]) -> tuple[csr_array, int, int]:
    """Builds the adjacency of a list of pairs, each listed in either direction, once or more.

    Returns:
        The (N, N) int8 adjacency, the number of self-loops dropped, and the number of pairs
        dropped because the same unordered pair was listed before.

    Raises:
        ValueError: for an id outside 0..N-1.
    """
    loops = heads == tails
    low = np.minimum(heads, tails)[~loops].astype(np.int64)
    high = np.maximum(heads, tails)[~loops].astype(np.int64)
    if len(low) and (low.min() < 0 or high.max() >= nodes):
        raise ValueError("an edge names a node that does not exist")
    keys = np.sort(low * nodes + high)
    keys = keys[np.diff(keys, prepend=-1) > 0]  # np.unique is many times slower on millions of pairs
    width = np.int32 if nodes <= np.iinfo(np.int32).max else np.int64
    low, high = (keys // max(nodes, 1)).astype(width), (keys % max(nodes, 1)).astype(width)
    ones = np.ones(2 * len(keys), dtype=np.int8)
    rows, columns = np.concatenate([low, high]), np.concatenate([high, low])
    adjacency = csr_array(coo_array((ones, (rows, columns)), shape=(nodes, nodes)))
    adjacency.sort_indices()
    return adjacency, int(loops.sum()), int((~loops).sum()) - len(keys)


def check_adjacency(name: str, adjacency: csr_array) -> None:
    """Raises ValueError unless the matrix has the form that ``RawGraph`` declares."""
    require(name, "adjacency: CSR array", isinstance(adjacency, csr_array))
    check_form(name, "adjacency", adjacency, np.int8, adjacency.shape[0])
    require(name, "adjacency: square", adjacency.shape[0] == adjacency.shape[1])
    require(name, "adjacency: stored entries are 1", bool((adjacency.data == 1).all()))
    require(name, "adjacency: no self-loops", not adjacency.diagonal().any())
    require(name, "adjacency: symmetric", (adjacency != adjacency.T).nnz == 0)


def check_form(name: str, what: str, matrix: csr_array, dtype: type, rows: int) -> None:
    """Raises ValueError unless ``matrix`` is canonical CSR of this dtype with this many rows."""
    require(name, f"{what}: CSR array of {dtype.__name__}", isinstance(matrix, csr_array) and matrix.dtype == dtype)
    require(name, f"{what}: one row per node", matrix.shape[0] == rows)
    require(name, f"{what}: sorted indices, each once", bool(matrix.has_canonical_format))


def check_bounds(name: str, features: csr_array, bounds: tuple[float, float]) -> None:
    """Raises UserError unless every value, stored or implicit zero, lies in the declared bounds."""
    low, high = bounds
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise UserError(f"{name}: feature_bounds must be two finite numbers, the lower one first")
    if not np.isfinite(features.data).all():
        raise UserError(f"{name}: a feature is NaN or infinite; remove it or put a finite number in its place")
    implicit_zeros = features.nnz < features.shape[0] * features.shape[1]
    # The bounds are compared in the features' own precision: 0.1 as float32 lies above 0.1 as float64.
    floor, ceiling = np.float32(low), np.float32(high)
    inside = (features.data >= floor).all() and (features.data <= ceiling).all()
    if not inside or (implicit_zeros and not low <= 0 <= high):
        raise UserError(
            f"{name}: a feature lies outside the declared bounds [{low:g}, {high:g}]; declare wider feature_bounds"
            " (from public knowledge, never from the values) or clip the features"
        )


def is_vector(array: NDArray[np.int64], length: int) -> bool:
    """True for an int64 array of shape (length,)."""
    return isinstance(array, np.ndarray) and array.dtype == np.int64 and array.shape == (length,)


def require(name: str, rule: str, holds: bool) -> None:
    """Raises ValueError naming the rule, never a value."""
    if not holds:
        raise ValueError(f"{name}: broken rule: {rule}")
