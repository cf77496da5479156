"""What the solver accepts, with one clear line for what it does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tasks.errors import UserError

SYMMETRY_TOLERANCE = 1e-10
LARGEST_DISTANCE = LARGEST_FEATURE = 1e75


def checked_distances(matrix: np.ndarray, graph: int) -> np.ndarray:
    """The matrix as contiguous float64 (integers make POT return a zero plan), exactly symmetric.

    Raises:
        UserError: when it is not a non-empty, square, symmetric matrix of finite numbers.
    """
    try:
        distances = np.asarray(matrix)
    except ValueError:
        raise UserError(f"graph {graph}: its rows have different lengths; give a square matrix") from None
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1]:
        raise UserError(f"graph {graph}: distances have shape {distances.shape}; give a square matrix, nodes by nodes")
    if len(distances) == 0:
        raise UserError(f"graph {graph}: it has no nodes; leave empty graphs out before solving")
    if not np.issubdtype(distances.dtype, np.number) or np.iscomplexobj(distances):
        raise UserError(f"graph {graph}: distances of type {distances.dtype} are not real numbers; cast them to float")
    distances = distances.astype(np.float64)
    if not np.isfinite(distances).all():
        raise UserError(
            f"graph {graph}: distances contain NaN or infinity; check the embedding's features, or give unconnected "
            "nodes a finite distance"
        )
    scale = float(np.abs(distances).max())
    if scale > LARGEST_DISTANCE:
        raise UserError(f"graph {graph}: distances up to {scale:.0e} overflow when multiplied; divide them all by that")
    if float(np.abs(distances - distances.T).max()) > SYMMETRY_TOLERANCE * max(scale, 1.0):
        raise UserError(f"graph {graph}: distances are not symmetric; symmetrise them, for example (C + C.T) / 2")
    return np.ascontiguousarray((distances + distances.T) / 2)


def aligned(features: Sequence[np.ndarray] | None, matrices: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """The features, one matrix per graph of their own list.

    Raises:
        UserError: when there are more or fewer.
    """
    given = 0 if features is None else len(features)
    if features is None or given != len(matrices):
        raise UserError(f"{given} feature matrices for {len(matrices)} graphs: give one per graph")
    return features


def checked_features(features: Sequence[np.ndarray] | None, matrices: Sequence[np.ndarray]) -> list[np.ndarray]:
    """One float64 row per node and graph; rows of width 0 when there are no features.

    Raises:
        UserError: when there are no graphs, or features are missing, not finite, or of differing widths.
    """
    if len(matrices) == 0:
        raise UserError("no graphs to compare: give at least one distance matrix")
    if features is None:
        return [np.empty((len(matrix), 0)) for matrix in matrices]
    rows = [_real(part, graph) for graph, part in enumerate(aligned(features, matrices))]
    width = rows[0].shape[1] if rows[0].ndim == 2 else 0
    for graph, part in enumerate(rows):
        if part.ndim != 2 or len(part) != len(matrices[graph]):
            raise UserError(
                f"graph {graph}: features have shape {part.shape}; give one row for each of its "
                f"{len(matrices[graph])} nodes"
            )
        if part.shape[1] != width or width == 0:
            raise UserError(
                f"graph {graph}: {part.shape[1]} features per node, the first graph has {width}; align them"
            )
        if not np.isfinite(part).all():
            raise UserError(f"graph {graph}: features contain NaN or infinity; fill or drop those nodes")
        if float(np.abs(part).max()) > LARGEST_FEATURE:
            raise UserError(
                f"graph {graph}: features above {LARGEST_FEATURE:.0e} overflow when squared; scale them all"
            )
    return rows


def _real(part: np.ndarray, graph: int) -> np.ndarray:
    if np.iscomplexobj(part):
        raise UserError(f"graph {graph}: features are complex; give real numbers")
    try:
        return np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError):
        raise UserError(f"graph {graph}: features are no matrix of real numbers; give one row per node") from None
