"""Step: deal the labelled nodes to train, validation and test once per repeat."""

from __future__ import annotations

from pathlib import Path

from tasks.code_version import code_version
from tasks.datasets.splits import random_split
from tasks.errors import UserError
from tasks.seeds import derive_seed, generator
from tasks.steps.download import RawSource
from tasks.steps.point import point_task
from tasks.steps.report_point import one_graph
from tasks.store import PointRef, PointStore

SPLIT = "split.npz"
LEAST = 4
"""So many nodes give each part of 50/25/25 one."""


@point_task()
def split(store: PointStore, source: RawSource, repeat: int, seed: int | None) -> PointRef:
    """The split of one repeat, shared by every method; it depends on which labels are known, not on noise."""
    role_seed = derive_seed(seed, study="split", dataset=source.name, point="50/25/25", repeat=repeat, role="bench")

    def compute(folder: Path) -> None:
        labels = one_graph(source, "node_classification").labels
        assert labels is not None
        parts = random_split(labels, generator(role_seed))
        if min(len(parts.train), len(parts.validation), len(parts.test)) == 0:
            raise UserError(
                f"{source.name}: fewer than {LEAST} nodes have a label, which leaves none to train, validate or test; "
                "add labels to its file"
            )
        parts.save(folder / SPLIT)

    key = {
        "step": "split",
        "raw": source.content,
        "repeat": repeat,
        "seed": role_seed,
        "code": code_version("tasks.datasets.splits"),
    }
    return store.point(key, compute, label=f"split {source.name} repeat={repeat}", private=source.private)
