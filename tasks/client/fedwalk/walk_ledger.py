"""The ledger line of encoded walks, which claims nothing for a walk and says what one release is worth."""

from __future__ import annotations

import numpy as np

from tasks.broadcasts.tree import ClusterTree
from tasks.client.fedwalk.guarantee import cost_of_adding, cost_of_replacing, normaliser_slack, worst_release
from tasks.epsilon import INFINITE
from tasks.reports.ledgers.ledger_line import LedgerLine, fresh_report_key
from tasks.reports.ledgers.units import LISTS_IN_CLEAR

EXAMPLE_DEGREE = 20


def walk_line(
    tree: ClusterTree,
    epsilon: str,
    rng: np.random.Generator,
    *,
    dataset: str,
    simulated: bool,
    predictor: str,
    notes: tuple[str, ...] = (),
) -> LedgerLine:
    """A line without a guarantee: the walk goes on from the true vertex and its uploader is known.

    Step costs are stated for ``EXAMPLE_DEGREE``, because a degree taken from the data would say something about it.
    """
    if epsilon == INFINITE:
        one_release = "the encoder is the identity"
    else:
        release, degree = worst_release(tree, epsilon), EXAMPLE_DEGREE
        one_release = (
            f"one release is at worst {release:.2f} (epsilon * depth {tree.depth} + ln(Z/Z') up to"
            f" {normaliser_slack(tree, epsilon):.3f}); one step from {degree} neighbours, one replaced:"
            f" {cost_of_replacing(release, degree):.2f}, one added: {cost_of_adding(release, degree):.2f}"
        )
    return LedgerLine(
        mechanism=f"FedWalk walks (encoder epsilon {epsilon} a level, {predictor} predictor, {tree.source} tree)",
        dataset=dataset,
        deployment_key="walks",
        report_key=fresh_report_key(rng, "walks", dataset, epsilon, predictor, tree.source),
        epsilon=INFINITE,
        unit="walk",
        statement=f"no guarantee for a walk; {one_release}",
        not_protected=(
            "the edges: adjacent tokens of many walks gave nearly all edges of public graphs away at epsilon 2, three"
            " quarters and more at 1, up to 28% at 0.5; a two-hop prediction is one more release"
        ),
        guarantee=False,
        simulated=simulated and epsilon != INFINITE,
        spends=tuple(LISTS_IN_CLEAR.items()),
        notes=notes,
    )
