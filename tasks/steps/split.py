"""Step: deal the labelled nodes to train, validation and test once per repeat."""

from __future__ import annotations

from tasks.datasets.splits import random_split
from tasks.errors import UserError
from tasks.seeds import generator
from tasks.steps.declaration import Draft
from tasks.steps.point import point
from tasks.steps.raw_source import RawSource, one_graph
from tasks.steps.seeds import split_seed

SPLIT = "split.npz"
LEAST = 4
"""So many nodes give each part of 50/25/25 one."""


@point(label="split {source.name} repeat={repeat}", seed=split_seed("50/25/25"))
def split(draft: Draft, source: RawSource, repeat: int, seed: int | None) -> None:
    """The split of one repeat, shared by every method; it depends on which labels are known, not on noise."""
    labels = one_graph(source, "node_classification").labels
    assert labels is not None
    parts = random_split(labels, generator(draft.seed))
    if min(len(parts.train), len(parts.validation), len(parts.test)) == 0:
        raise UserError(
            f"{source.name}: fewer than {LEAST} nodes have a label, which leaves none to train, validate or test; "
            "add labels to its file"
        )
    parts.save(draft.file(SPLIT))
