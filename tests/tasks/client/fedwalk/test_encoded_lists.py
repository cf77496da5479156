from __future__ import annotations

import numpy as np
import pytest
from randomgen import ChaCha
from scipy.stats import chisquare

from tasks.client.fedwalk.encoded_lists import release_lists
from tasks.client.fedwalk.guarantee import worst_release_budget
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.client.noise_source import noise_generator
from tasks.errors import UserError
from tasks.evaluation.audits.lower_bound import audit_epsilon
from tasks.seeds import generator


def same_list(neighbours: list[int], devices: int) -> NeighbourLists:
    return NeighbourLists(
        np.arange(devices + 1) * len(neighbours), np.tile(np.array(neighbours, dtype=np.int32), devices)
    )


def test_without_noise_the_lists_come_through(small_lists, uneven_tree):
    report = release_lists(small_lists, uneven_tree, "inf", generator(1), dataset="x", simulated=True)
    assert np.array_equal(report.indptr, small_lists.indptr)
    assert np.array_equal(report.indices, small_lists.indices)
    assert not report.ledger.guarantee


@pytest.mark.parametrize("simulated", [True, False])
def test_entries_follow_the_encoders_law(uneven_tree, exact_law, simulated):
    # Ten devices are enough for the tree; a list may hold a neighbour many times for the sake of counting.
    lists = same_list([3] * 3000, 10)
    rng = generator(1) if simulated else np.random.Generator(ChaCha(key=7, rounds=20))
    report = release_lists(lists, uneven_tree, "0.5", rng, dataset="x", simulated=simulated)
    observed = np.bincount(report.indices, minlength=10)
    assert chisquare(observed, exact_law(uneven_tree, 0.5)[3] * 30_000).pvalue > 1e-4


def test_only_a_simulation_draws_through_a_short_key(small_lists, uneven_tree, monkeypatch):
    def refuse(_: np.random.Generator) -> None:
        raise AssertionError("a 64-bit key was drawn")

    monkeypatch.setattr("tasks.client.fedwalk.encoded_lists.draw_key", refuse)
    for padded in (None, np.full(10, 2)):
        release_lists(
            small_lists,
            uneven_tree,
            "0.5",
            noise_generator(None),
            dataset="x",
            simulated=False,
            published_degrees=padded,
        )
    with pytest.raises(AssertionError, match="64-bit"):
        release_lists(small_lists, uneven_tree, "0.5", noise_generator(3), dataset="x", simulated=True)


def test_rows_are_sorted_and_degrees_are_those_of_the_list(small_lists, uneven_tree):
    report = release_lists(small_lists, uneven_tree, "0.5", generator(1), dataset="x", simulated=True)
    assert np.array_equal(np.diff(report.indptr), small_lists.degrees)
    for vertex in range(10):
        row = report.indices[report.indptr[vertex] : report.indptr[vertex + 1]]
        assert (np.diff(row) >= 0).all()


def test_padding_gives_every_list_its_published_length(small_lists, uneven_tree):
    published = np.array([2, 5, -4, 1, 3, 0, 7, 2, 2, 1])
    report = release_lists(
        small_lists,
        uneven_tree,
        "inf",
        generator(1),
        dataset="x",
        simulated=True,
        published_degrees=published,
    )
    assert np.array_equal(np.diff(report.indptr), np.maximum(published, 0))
    for vertex in range(10):
        row = report.indices[report.indptr[vertex] : report.indptr[vertex + 1]].tolist()
        own = small_lists.of(vertex).tolist()
        if len(own) >= len(row):
            assert set(row) <= set(own)
        else:
            assert all(row.count(neighbour) >= 1 for neighbour in own)


def test_truncation_keeps_a_uniform_subset(uneven_tree):
    rng, kept = generator(1), np.zeros(10)
    lists = same_list([1, 4, 5, 8], 10)
    for _ in range(300):
        report = release_lists(
            lists, uneven_tree, "inf", rng, dataset="x", simulated=True, published_degrees=np.full(10, 2)
        )
        kept += np.bincount(report.indices, minlength=10)
    assert chisquare(kept[[1, 4, 5, 8]]).pvalue > 1e-4


def test_one_replaced_neighbour_costs_at_most_the_worst_release(uneven_tree):
    """The same ten devices draw many times; their lists of one differ in the neighbour."""
    samples = []
    for seed, neighbour in enumerate((0, 9)):
        rng, lists = generator(seed), same_list([neighbour], 10)
        reports = [release_lists(lists, uneven_tree, "0.2", rng, dataset="x", simulated=True) for _ in range(600)]
        samples.append(np.concatenate([report.indices for report in reports]))
    worst = float(worst_release_budget(uneven_tree, "0.2"))
    assert 0.5 < audit_epsilon(*samples).lower_bound <= worst


def test_the_ledger_states_the_worst_case_once_and_twice(small_lists, uneven_tree):
    line = release_lists(small_lists, uneven_tree, "2", generator(None), dataset="x", simulated=False).ledger
    assert line.guarantee
    assert line.epsilon == worst_release_budget(uneven_tree, "2")
    assert line.spent == {"edge": "inf", "replacement": line.epsilon, "relation": "inf"}
    assert "degree" in line.not_protected
    padded = release_lists(
        small_lists,
        uneven_tree,
        "2",
        generator(None),
        dataset="x",
        simulated=False,
        published_degrees=small_lists.degrees,
    ).ledger
    assert padded.spent["edge"] == padded.spent["replacement"] == line.epsilon
    assert float(padded.spent["relation"]) == pytest.approx(2 * float(line.epsilon))


def test_other_sizes_are_refused(small_lists, uneven_tree):
    with pytest.raises(UserError):
        release_lists(
            small_lists,
            uneven_tree,
            "2",
            generator(1),
            dataset="x",
            simulated=True,
            published_degrees=np.ones(9, dtype=np.int64),
        )
