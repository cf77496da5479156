from __future__ import annotations

import numpy as np

from tasks.client.fedwalk.degree import release_degrees
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.evaluation.audits.lower_bound import audit_epsilon
from tasks.seeds import generator

EMPTY = NeighbourLists(np.zeros(200_001, dtype=np.int64), np.empty(0, dtype=np.int32))
ONE_EACH = NeighbourLists(np.arange(200_001), np.zeros(200_000, dtype=np.int32))


def test_degrees_are_exact_without_noise():
    report = release_degrees(ONE_EACH, "inf", generator(1), dataset="x", simulated=False)
    assert (report.degrees == 1).all()
    assert not report.ledger.guarantee


def test_one_neighbour_more_costs_the_budget():
    without, with_one = (
        release_degrees(lists, "0.5", generator(seed), dataset="x", simulated=True).degrees
        for seed, lists in enumerate((EMPTY, ONE_EACH))
    )
    assert 0.4 < audit_epsilon(without, with_one).lower_bound <= 0.5


def test_the_ledger_charges_a_relation_twice_and_says_when_noise_is_simulated():
    seeded = release_degrees(EMPTY, "0.5", generator(1), dataset="x", simulated=True).ledger
    fresh = release_degrees(EMPTY, "0.5", generator(None), dataset="x", simulated=False).ledger
    assert seeded.relation_epsilon == fresh.relation_epsilon == "1"
    assert (seeded.guarantee, fresh.guarantee) == (False, True)
    assert (seeded.simulated, fresh.simulated) == (True, False)
