"""How indefinite a kernel is, and the usual corrections, fitted on training rows alone.

e^{-gamma GW} need not be positive semi-definite. The corrections act on the eigenvalues of the training matrix
K = U diag(s) U' (Chen et al., "Similarity-based classification", JMLR 2009): ``clip`` sets the negative ones to 0,
``flip`` to their absolute value, ``shift`` adds the magnitude of the smallest to the diagonal. As linear maps of
training columns, K -> K P with P = U diag(s > 0) U' or U diag(sign s) U', clip and flip extend to the rows of unseen
graphs without looking at them; shift changes self-similarities only, so unseen rows stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tasks.errors import UserError

Correction = Literal["none", "clip", "flip", "shift"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of a kernel matrix in three figures.

    Attributes:
        smallest, largest: extreme eigenvalues.
        negative_mass: sum of the magnitudes of the negative ones over the sum of all magnitudes; 0 when there are
            none beyond rounding.
    """

    smallest: float
    largest: float
    negative_mass: float


def spectrum_of(kernel: NDArray[np.float64]) -> Spectrum:
    """The spectrum of a symmetric (T, T) matrix."""
    values = np.linalg.eigvalsh(kernel)
    magnitude = np.abs(values)
    rounding = len(values) * np.finfo(np.float64).eps * magnitude.max()
    negative = magnitude[values < -rounding].sum() / magnitude.sum()
    return Spectrum(float(values[0]), float(values[-1]), float(negative))


def corrected(columns: NDArray[np.float64], train: NDArray[np.int64], correction: Correction) -> NDArray[np.float64]:
    """Kernel columns after a correction that saw the training rows only.

    Args:
        columns: (G, T), similarity of every graph to the T training graphs; not changed.
        train: int64 (T,), which rows are the training graphs, in the order of the columns.
        correction: ``none``, ``clip``, ``flip`` or ``shift``.

    Raises:
        UserError: for an unknown correction.
    """
    if correction not in CORRECTIONS:
        raise UserError(f"kernel cure: {correction!r} is unknown; use one of {', '.join(CORRECTIONS)}")
    if correction == "none":
        return columns
    values, vectors = np.linalg.eigh(columns[train])
    if correction == "shift":
        result = columns.copy()
        result[train, np.arange(len(train))] += max(0.0, -float(values[0]))
        return result
    weights = (values > 0).astype(np.float64) if correction == "clip" else np.where(values < 0, -1.0, 1.0)
    result = columns @ (vectors * weights) @ vectors.T
    result[train] = (result[train] + result[train].T) / 2
    return result
