from __future__ import annotations

import numpy as np

from tasks.client.fedwalk.structural_matrices import release_structural_matrices
from tasks.seeds import generator

BINS = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0], dtype=np.int32)


def test_vectors_count_neighbours_in_bins_and_rows_are_the_neighbours_vectors(small_lists):
    report = release_structural_matrices(small_lists, BINS, "inf", generator(1), dataset="x", simulated=False)
    for vertex in range(10):
        own = small_lists.of(vertex)
        assert np.array_equal(report.vectors[vertex], np.bincount(BINS[own], minlength=3))
        rows = report.rows[report.indptr[vertex] : report.indptr[vertex + 1]]
        assert (np.diff(rows.sum(axis=1)) >= 0).all()
        assert sorted(map(tuple, rows)) == sorted(map(tuple, report.vectors[own]))


def test_the_ledger_says_that_it_leaks(small_lists):
    report = release_structural_matrices(small_lists, BINS, "1", generator(None), dataset="x", simulated=False)
    assert not report.ledger.guarantee
    assert report.ledger.epsilon == "inf"
