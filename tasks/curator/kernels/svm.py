"""Support vector machine on precomputed kernels, chosen on the validation graphs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from tasks.curator.kernels.gromov_kernel import Candidate
from tasks.curator.kernels.spectrum import Correction, Spectrum, corrected, spectrum_of
from tasks.errors import UserError
from tasks.reports.label import LabelReport

PENALTIES: tuple[float, ...] = tuple(10.0**k for k in range(-7, 8))
MAX_ITERATIONS = 100_000
"""An indefinite kernel can keep the solver busy for ever at a large C; a fit at the limit is used as it is."""


@dataclass(frozen=True)
class Classified:
    """The chosen machine's answer for every graph.

    Attributes:
        predictions: int64 (G,).
        settings: the kernel's settings and ``C``.
        validation_accuracy: of the chosen machine.
        spectrum: of the chosen kernel on the training graphs, before the correction.
        search: one row per kernel and C: settings, ``validation_accuracy``, ``converged``.
    """

    predictions: NDArray[np.int64]
    settings: dict[str, float]
    validation_accuracy: float
    spectrum: Spectrum
    search: pd.DataFrame


def choose_svm(
    kernels: Iterable[Candidate],
    labels: LabelReport,
    *,
    correction: Correction = "none",
    penalties: Sequence[float] = PENALTIES,
) -> Classified:
    """Fits every kernel and C on the training graphs and keeps the best on the validation graphs.

    On a tie the smaller C stays, then the kernel that came first. Once no dual variable of a fit is at its bound C, a
    larger C has the same solution and is not fitted again.

    Args:
        kernels: candidates with columns (G, T) in the order of ``labels.train_nodes``.
        labels: of the training and validation graphs; there are no others.
        correction: for negative eigenvalues, fitted on the training rows.
        penalties: values of C, ascending.

    Raises:
        UserError: for no candidates, or fewer than two classes among the training graphs.
    """
    train, validation = labels.train_nodes, labels.validation_nodes
    if len(np.unique(labels.train_labels)) < 2 or not len(validation):
        raise UserError("an SVM needs two classes among the training graphs, and validation graphs")
    best: tuple[float, float] | None = None
    chosen: tuple[dict[str, float], SVC, NDArray[np.float64], NDArray[np.float64]] | None = None
    rows: list[dict[str, float | bool]] = []
    for settings, columns in kernels:
        fitted = corrected(columns, train, correction)
        among_train, to_train = fitted[train], fitted[validation]
        accuracy, converged, settled = 0.0, True, False
        for penalty in penalties:
            if not settled:
                machine = _fit(among_train, labels.train_labels, penalty)
                accuracy = float((machine.predict(to_train) == labels.validation_labels).mean())
                converged = bool(np.max(machine.n_iter_) < MAX_ITERATIONS)
                settled = converged and not _at_bound(machine)
                score = (accuracy, -penalty)
                if best is None or score > best:
                    best, chosen = score, ({**settings, "C": penalty}, machine, columns, fitted)
            rows.append({**settings, "C": penalty, "validation_accuracy": accuracy, "converged": converged})
    if best is None or chosen is None:
        raise UserError("there is no kernel to choose from; give at least one gamma and one C")
    settings, machine, columns, fitted = chosen
    return Classified(
        predictions=machine.predict(fitted).astype(np.int64),
        settings=settings,
        validation_accuracy=best[0],
        spectrum=spectrum_of(columns[train]),
        search=pd.DataFrame(rows),
    )


def _fit(kernel: NDArray[np.float64], labels: NDArray[np.int64], penalty: float) -> SVC:
    machine = SVC(C=penalty, kernel="precomputed", max_iter=MAX_ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(kernel, labels)


def _at_bound(machine: SVC) -> bool:
    return bool((np.abs(machine.dual_coef_) >= machine.C * (1 - 1e-9)).any())
