from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tasks.curator.fedwalk.ordered_matrices import matrices_from_counts, matrices_from_structural, sketched
from tasks.reports.fedwalk.neighbour_counts import NeighbourCountReport
from tasks.reports.fedwalk.structural_matrices import StructuralMatrixReport
from tasks.reports.ledgers.ledger_line import LedgerLine

LINE = LedgerLine("m", "d", "structural matrices", "r", "inf", "u", "s", "n", False, False)


def counted(counts: np.ndarray, epsilon: str) -> NeighbourCountReport:
    line = replace(LINE, deployment_key="counts", epsilon=epsilon)
    return NeighbourCountReport(epsilon, 1, counts.astype(np.int32), line)


def test_rows_are_log_counts_in_degree_order_without_empty_ones():
    counts = np.zeros((2, 8, 3))
    counts[0, 1], counts[0, 6] = (1, 0, 2), (5, 5, 0)
    counts[1, 3] = (0, 4, 0)
    matrices = matrices_from_counts(counted(counts, "inf"))
    assert matrices.lengths.tolist() == [2, 1]
    assert matrices.rows == pytest.approx(np.log1p([[1, 0, 2], [5, 5, 0], [0, 4, 0]]), rel=1e-6)


def test_rows_at_the_noise_floor_are_dropped_and_the_fullest_stays():
    counts = np.zeros((2, 8, 2))
    counts[0, 2], counts[0, 4] = (20, 0), (3, -1)
    counts[1, 5], counts[1, 6] = (1, 1), (-4, 0)
    # Two standard deviations of a row's noise at epsilon 1 are 2 sqrt(4) = 4.
    matrices = matrices_from_counts(counted(counts, "1"))
    assert matrices.lengths.tolist() == [1, 1]
    assert matrices.rows == pytest.approx(np.log1p([[20, 0], [1, 1]]), rel=1e-6)


def test_structural_matrices_come_as_uploaded_with_a_row_for_isolated_vertices():
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    report = StructuralMatrixReport("1", np.zeros((4, 2), dtype=np.float32), np.array([0, 0, 2, 3, 3]), rows, LINE)
    matrices = matrices_from_structural(report)
    assert matrices.lengths.tolist() == [1, 2, 1, 1]
    assert np.array_equal(matrices.rows, [[0, 0], [0, 1], [2, 3], [4, 5], [0, 0]])


def test_sketches_are_means_of_runs_and_short_matrices_stay():
    rows = np.arange(10, dtype=np.float32).reshape(10, 1)
    report = StructuralMatrixReport("1", np.zeros((2, 1), dtype=np.float32), np.array([0, 7, 10]), rows, LINE)
    matrices = matrices_from_structural(report)
    short = sketched(matrices, rows=3)
    assert short.indptr.tolist() == [0, 3, 6]
    assert short.lengths.tolist() == [7, 3]
    assert short.rows.ravel().tolist() == [0.5, 2.5, 5.0, 7, 8, 9]
    assert np.array_equal(sketched(matrices, rows=16).rows, matrices.rows)
