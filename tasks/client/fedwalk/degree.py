"""Noisy degrees: every device publishes its degree once, through the discrete Laplace mechanism.

Adding or removing one neighbour moves a degree by 1, so the sensitivity is 1. A relation sits in two lists: 2 epsilon.
"""

from __future__ import annotations

import numpy as np

from tasks.client.fedwalk.discrete_laplace import with_discrete_laplace
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.epsilon import canonical_epsilon
from tasks.reports.fedwalk.degree import DegreeReport
from tasks.reports.ledgers.ledger_line import Charge, fresh_report_key, local_privacy_line, uncharged
from tasks.reports.ledgers.units import spent_on_degree


def release_degrees(
    lists: NeighbourLists,
    epsilon: str,
    rng: np.random.Generator,
    *,
    dataset: str,
    simulated: bool,
    notes: tuple[str, ...] = (),
    charge: Charge = uncharged,
) -> DegreeReport:
    """Every device's degree plus discrete Laplace noise of scale 1/epsilon.

    Args:
        lists: every device's neighbours.
        epsilon: eps_degree; ``"inf"`` publishes the degrees.
        rng: source of the noise.
        dataset, notes: for the ledger.
        charge: called with the ledger's line before anything is drawn.
        simulated: whether ``rng`` was seeded.
    """
    epsilon = canonical_epsilon(epsilon, name="eps_degree")
    line = charge(
        local_privacy_line(
            mechanism="noisy degree (discrete Laplace)",
            dataset=dataset,
            deployment_key="degree",
            report_key=fresh_report_key(rng, "degree", dataset, epsilon),
            epsilon=epsilon,
            unit="neighbour list (one neighbour added or removed)",
            claim=f"{epsilon}-LDP for one neighbour of a list; both ends count a relation, so it has twice that",
            not_protected="several neighbours together (k of them cost k times the budget)",
            simulated=simulated,
            spends=spent_on_degree(epsilon),
            notes=notes,
        )
    )
    return DegreeReport(epsilon, with_discrete_laplace(lists.degrees, epsilon, sensitivity=1, rng=rng), line)
