from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from tasks.client.fedwalk.neighbour_counts import neighbour_counts, release_neighbour_counts
from tasks.client.fedwalk.neighbour_lists import NeighbourLists, neighbour_lists
from tasks.errors import UserError
from tasks.evaluation.audits.lower_bound import audit_epsilon
from tasks.reports.fedwalk.neighbour_counts import BUCKETS, degree_buckets
from tasks.seeds import generator


def some_lists() -> NeighbourLists:
    half = random_array((50, 50), density=0.1, rng=generator(1)) > 0
    return neighbour_lists(csr_array((half + half.T).astype(np.int8)), dataset="x")


def test_buckets_are_powers_of_two():
    degrees = np.array([-5, 0, 1, 2, 3, 4, 7, 8, 63, 64, 127, 128, 255, 256, 3992])
    assert degree_buckets(degrees).tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 5, 6, 6, 7, 7, 7, 7]


def test_counts_are_those_of_a_plain_loop():
    lists, rng = some_lists(), generator(2)
    published, bins = rng.integers(-3, 300, size=50), (np.arange(50) % 4).astype(np.int32)
    expected = np.zeros((50, BUCKETS, 4), dtype=int)
    for vertex in range(50):
        for neighbour in lists.of(vertex):
            expected[vertex, degree_buckets(published)[neighbour], bins[neighbour]] += 1
    assert np.array_equal(neighbour_counts(lists, published, bins), expected)
    report = release_neighbour_counts(lists, published, bins, "inf", rng, dataset="x", simulated=False)
    assert np.array_equal(report.counts, expected)
    assert report.counts.dtype == np.int32


@pytest.mark.parametrize("sensitivity", [1, 2])
def test_noise_has_the_scale_of_the_sensitivity(sensitivity: int):
    lists, bins = some_lists(), (np.arange(50) % 4).astype(np.int32)
    exact = neighbour_counts(lists, lists.degrees, bins)
    report = release_neighbour_counts(
        lists, lists.degrees, bins, "1", generator(3), dataset="x", simulated=True, sensitivity=sensitivity
    )
    q = np.exp(-1 / sensitivity)
    assert (report.counts - exact).var() == pytest.approx(2 * q / (1 - q) ** 2, rel=0.15)


def test_one_neighbour_more_costs_the_budget_in_its_cell():
    count = 50_000
    published, bins = np.array([1, 200]), np.array([0, 1], dtype=np.int32)
    devices = {False: np.zeros(count + 1, dtype=np.int64), True: np.arange(count + 1)}
    cells = {}
    for connected, indptr in devices.items():
        indices = np.ones(indptr[-1], dtype=np.int32)
        lists = NeighbourLists(indptr, indices)
        report = release_neighbour_counts(
            lists,
            np.resize(published, count),
            np.resize(bins, count),
            "1",
            generator(int(connected)),
            dataset="x",
            simulated=True,
        )
        cells[connected] = report.counts[:, 7, 1]
    assert 0.85 < audit_epsilon(cells[False], cells[True]).lower_bound <= 1.0


def test_other_sensitivities_are_refused():
    lists = some_lists()
    with pytest.raises(UserError, match="sensitivity"):
        release_neighbour_counts(
            lists,
            lists.degrees,
            np.zeros(50, dtype=np.int32),
            "1",
            generator(1),
            dataset="x",
            simulated=True,
            sensitivity=3,
        )
