"""Fewer training labels: nested subsets of a split's training nodes, its validation and test nodes as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tasks.errors import UserError

if TYPE_CHECKING:
    import numpy as np

    from tasks.datasets.splits import Split

FULL = 0.5
"""The share of the labelled nodes that a split of 50/25/25 trains on: the default label rate, and the largest."""


def with_label_rate(split: Split, rate: float, rng: np.random.Generator) -> Split:
    """The split with training nodes for this share of all labelled nodes; with equal randomness the sets are nested.

    Args:
        split: 50/25/25.
        rate: share of all labelled nodes, in (0, 0.5]; 0.5 leaves the split as it is.
        rng: source of the order in which training nodes are taken.

    Raises:
        UserError: when the rate asks for no node, or for more than there are.
    """
    if rate == FULL:
        return split
    labelled = len(split.train) + len(split.validation) + len(split.test)
    count = round(rate * labelled)
    if not 1 <= count <= len(split.train):
        raise UserError(f"label rate {rate:g} of {labelled} labelled nodes is {count} nodes; {len(split.train)} train")
    train = rng.permutation(split.train)[:count]
    train.sort()
    return replace(split, train=train)
