"""Sparse matrices as the kernels read them, and the first layer's way from weights to nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, identity

from tasks.curator.calibration.smoothing import smooth
from tasks.curator.rectify import AffineSparse


@dataclass(frozen=True, eq=False)
class Csr:
    """Rows in compressed form: ``starts`` int32 (rows + 1,), ``columns`` int32 and ``values`` (entries,)."""

    starts: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: NDArray[Any]

    @classmethod
    def of(cls, matrix: csr_array, dtype: type) -> Csr:
        """A scipy matrix with its columns in order."""
        matrix = csr_array(matrix)
        matrix.sort_indices()
        return cls(matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data.astype(dtype))

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any]]:
        """The three arrays, in the kernels' order."""
        return self.starts, self.columns, self.values

    @property
    def nbytes(self) -> int:
        """Memory of the three arrays."""
        return sum(array.nbytes for array in self.arrays)


@dataclass(frozen=True, eq=False)
class FirstOperators:
    """The linear map from the first layer's matrices to the nodes, S^steps, features and propagation P together.

    GraphSAGE has two matrices (root, neighbour), GCN one. Features are ``constant`` everywhere plus a sparse part. The
    constant reaches node i as ``row_scales[matrix, i]`` times the column sums of the matrix. The sparse part is
    either *fused* - P X has hardly more entries than P, for reports of few dimensions - or applied in stages: project
    (X W), smooth ``steps`` times, propagate; S^l (X W) = (S^l X) W keeps every stage at ``hidden`` columns.

    Attributes:
        matrices: 1 or 2.
        constant: of the features.
        row_scales: (matrices, N).
        reach: (N,) what S^steps makes of a column of ones.
        fused: P and features in one, (N, matrices * d); None otherwise.
        project: X (N, d) of the staged form, None when fused or dense.
        transposed: per matrix, the transposed product that ends in its gradient, (d, N).
        smooth, smooth_transposed: S of the staged form.
        steps: times that S is applied at run time.
        dense: S^l X (N, d) for dense features; smoothed once, not in every epoch.
    """

    matrices: int
    constant: float
    row_scales: NDArray[Any]
    reach: NDArray[Any]
    fused: Csr | None
    project: Csr | None
    transposed: tuple[Csr, ...]
    smooth: Csr | None
    smooth_transposed: Csr | None
    steps: int
    dense: NDArray[Any] | None


def first_operators(
    propagation: csr_array,
    features: AffineSparse | NDArray[np.float32],
    smoothing: csr_array,
    steps: int,
    *,
    matrices: int,
    dtype: type,
    alone: bool = False,
) -> FirstOperators:
    """Chooses the cheaper form; ``alone`` asks for P on its own, for edge weights that change."""
    if isinstance(features, AffineSparse):
        constant, sparse, dense = features.constant, features.sparse, None
    else:
        # The gradient of dense features is a dense product: nothing is left for the sparse one to do.
        constant, sparse, dense = 0.0, identity(features.shape[1], format="csr"), smooth(smoothing, features, steps)
    near = csr_array(propagation @ sparse) if steps == 0 and not alone and dense is None else None
    # Fused passes over ``near`` replace those over P and X, and spare the rows between them.
    if near is not None and near.nnz <= propagation.nnz + 2 * sparse.nnz:
        parts = [sparse, near][2 - matrices :]
        fused = Csr.of(hstack(parts, format="csr"), dtype)
        transposed = tuple(Csr.of(part.T, dtype) for part in parts)
    else:
        fused = None
        transposed = (Csr.of(sparse.T, dtype),) * matrices
    reach = smooth(smoothing, np.ones(propagation.shape[0]), steps)
    staged = fused is None and dense is None
    return FirstOperators(
        matrices=matrices,
        constant=constant,
        row_scales=np.array([reach, propagation @ reach][2 - matrices :], dtype=dtype),
        reach=reach.astype(dtype),
        fused=fused,
        project=Csr.of(sparse, dtype) if staged else None,
        transposed=transposed,
        smooth=Csr.of(smoothing, dtype) if staged and steps else None,
        smooth_transposed=Csr.of(smoothing.T, dtype) if staged and steps else None,
        steps=steps if staged else 0,
        dense=None if dense is None else np.ascontiguousarray(dense, dtype=dtype),
    )
