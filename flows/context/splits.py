"""What the studies that classify begin with: one split a repeat, and the labels that the curator may know."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from prefect import Task

from flows.context.study import Study
from tasks.steps.download import RawSource
from tasks.store import PointRef

Splits = dict[tuple[str, int], PointRef]
"""Points by (data set, repeat)."""


def partition(
    study: Study, sources: dict[str, RawSource], split: Task[..., Any], report_labels: Task[..., Any]
) -> tuple[Splits, Splits]:
    """The splits, and the label reports that ``report_labels`` makes of them."""
    splits = draw_splits(study, sources, split)
    labels = study.collect(
        study.call(report_labels, "report labels", name, repeat, source=sources[name], split=point)
        for (name, repeat), point in splits.items()
    )
    return splits, labels


def draw_splits(study: Study, sources: Mapping[str, RawSource], split: Task[..., Any]) -> Splits:
    """The splits, drawn by ``split`` from the public seed, see ``tasks.steps.seeds.split_seed``."""
    return study.collect(
        study.call(split, "split", name, repeat, source=source, seed=study.public_seed)
        for (name, source), repeat in product(sources.items(), range(study.profile.repeats))
    )
