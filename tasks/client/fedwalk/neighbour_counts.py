"""Neighbour-group counts: how many neighbours fall into every bucket of published degree and every public bin.

The buckets use the degrees that devices *published*, so a count is a function of the device's own list and of public
values, and one neighbour more or less moves one cell by 1. Under add/remove the sensitivity is 1; replacing a
neighbour at public degree moves two cells: 2. Independent discrete Laplace noise goes on every cell, empty or not.
A relation sits in two lists, and a neighbour's published degree shifts with it: degrees and counts together cost a
relation 2 (eps_degree + eps_counts).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tasks.client.fedwalk.discrete_laplace import with_discrete_laplace
from tasks.client.fedwalk.neighbour_lists import NeighbourLists
from tasks.epsilon import canonical_epsilon
from tasks.errors import UserError
from tasks.reports.fedwalk.neighbour_counts import BUCKETS, NeighbourCountReport, degree_buckets
from tasks.reports.ledgers.ledger_line import Charge, fresh_report_key, local_privacy_line, uncharged
from tasks.reports.ledgers.units import spent_on_counts


def release_neighbour_counts(
    lists: NeighbourLists,
    published_degrees: NDArray[np.int64],
    bins: NDArray[np.int32],
    epsilon: str,
    rng: np.random.Generator,
    *,
    dataset: str,
    simulated: bool,
    sensitivity: int = 1,
    notes: tuple[str, ...] = (),
    charge: Charge = uncharged,
) -> NeighbourCountReport:
    """Every device's table of counts plus discrete Laplace noise of scale sensitivity/epsilon.

    Args:
        lists: every device's neighbours.
        published_degrees: int64 (V,), from the devices' own reports.
        bins: int32 (V,), the public bin of every vertex.
        epsilon: eps_counts; ``"inf"`` publishes the counts.
        rng: source of the noise.
        dataset, notes: for the ledger.
        charge: called with the ledger's line before anything is drawn.
        simulated: whether ``rng`` was seeded.
        sensitivity: 1 protects adding or removing a neighbour, 2 replacing one.

    Raises:
        UserError: for another sensitivity.
    """
    epsilon = canonical_epsilon(epsilon, name="eps_counts")
    if sensitivity not in (1, 2):
        raise UserError(f"sensitivity: {sensitivity} is out of range; 1 for add/remove, 2 for replacing a neighbour")
    change = "added or removed" if sensitivity == 1 else "replaced, degree public"
    line = charge(
        local_privacy_line(
            mechanism="neighbour-group counts (discrete Laplace)",
            dataset=dataset,
            deployment_key="counts",
            report_key=fresh_report_key(rng, "counts", dataset, epsilon, sensitivity),
            epsilon=epsilon,
            unit=f"neighbour list (one neighbour {change})",
            claim=f"{epsilon}-LDP for one neighbour {change}; both ends count a relation, so it has twice that",
            not_protected="several neighbours together; the published degrees, which have a budget of their own",
            simulated=simulated,
            spends=spent_on_counts(epsilon, sensitivity),
            notes=notes,
        )
    )
    exact = neighbour_counts(lists, published_degrees, bins)
    noisy = with_discrete_laplace(exact, epsilon, sensitivity=sensitivity, rng=rng)
    return NeighbourCountReport(epsilon, sensitivity, noisy.astype(np.int32), line)


def neighbour_counts(
    lists: NeighbourLists, published_degrees: NDArray[np.int64], bins: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The exact tables, int64 (V, R, k)."""
    width = int(bins.max()) + 1
    group = degree_buckets(published_degrees) * width + bins
    owner = np.repeat(np.arange(lists.nodes), lists.degrees)
    cells = np.bincount(owner * (BUCKETS * width) + group[lists.indices], minlength=lists.nodes * BUCKETS * width)
    return cells.reshape(lists.nodes, BUCKETS, width)
