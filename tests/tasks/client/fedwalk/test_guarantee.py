from __future__ import annotations

import math

import numpy as np
import pytest

from tasks.client.fedwalk.guarantee import (
    cost_of_adding,
    cost_of_replacing,
    normaliser_slack,
    worst_release,
    worst_release_budget,
)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "2"])
def test_the_slack_is_the_brute_force_maximum(uneven_tree, levels, epsilon):
    normalisers = np.exp(-float(epsilon) * levels(uneven_tree)).sum(axis=1)
    brute = max(math.log(z / other) for z in normalisers for other in normalisers)
    assert normaliser_slack(uneven_tree, epsilon) == pytest.approx(brute, rel=1e-12)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "2"])
def test_releases_obey_the_metric_bound_and_its_worst_case(uneven_tree, levels, exact_law, epsilon):
    rho, law = levels(uneven_tree), exact_law(uneven_tree, float(epsilon))
    normalisers = np.exp(-float(epsilon) * rho).sum(axis=1)
    for v in range(10):
        for other in range(10):
            loss = np.log(law[v] / law[other]).max()
            assert loss <= float(epsilon) * rho[v, other] + math.log(normalisers[other] / normalisers[v]) + 1e-12
            assert loss <= worst_release(uneven_tree, epsilon)


@pytest.mark.parametrize("degree", [1, 3, 9])
def test_step_costs_bound_every_change_of_a_list(uneven_tree, exact_law, degree):
    law, release = exact_law(uneven_tree, 1.0), worst_release(uneven_tree, "1")
    rng = np.random.Generator(np.random.PCG64(degree))
    for _ in range(200):
        ids = rng.permutation(10)
        before, other = ids[:degree], ids[degree]
        step = law[before].mean(axis=0)
        replaced = law[[*before[1:], other]].mean(axis=0)
        assert abs(np.log(step / replaced)).max() <= cost_of_replacing(release, degree) + 1e-12
        more = law[[*before, other]].mean(axis=0)
        assert abs(np.log(more / step)).max() <= cost_of_adding(release, degree) + 1e-12


def test_no_noise_is_no_guarantee_and_budgets_round_up(uneven_tree):
    assert worst_release(uneven_tree, "inf") == math.inf
    assert worst_release_budget(uneven_tree, "inf") == "inf"
    assert normaliser_slack(uneven_tree, "inf") == 0.0
    worst = worst_release(uneven_tree, "1")
    assert worst <= float(worst_release_budget(uneven_tree, "1")) <= worst + 1e-6


def test_costs_at_the_specified_settings():
    """ln(1 + (e^28.124 - 1) / 21) = 28.124 - ln 21, for lack of anything that the ones could add."""
    assert cost_of_replacing(28.124, 21) == pytest.approx(28.124 - math.log(21), abs=1e-9)
    assert cost_of_replacing(0.0, 5) == 0.0
