"""What the studies that classify begin with: one split a repeat, and the labels that the curator may know."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from prefect import Task

from flows.context.study import Study
from flows.execution.submission import Call
from tasks.steps.download import RawSource
from tasks.store import PointRef

Dealt = dict[tuple[str, int], PointRef]
"""Points by (data set, repeat)."""


def deal(
    study: Study, sources: dict[str, RawSource], split: Task[..., Any], report_labels: Task[..., Any]
) -> tuple[Dealt, Dealt]:
    """The splits, and the label reports that ``report_labels`` makes of them."""
    splits = deal_roles(study, sources, split)
    labels = study.collect(
        Call(
            report_labels,
            f"report labels {name} repeat={repeat}",
            {"store": study.store, "source": sources[name], "split": point, "repeat": repeat},
            (name, repeat),
        )
        for (name, repeat), point in splits.items()
    )
    return splits, labels


def deal_roles(study: Study, sources: Mapping[str, RawSource], split: Task[..., Any]) -> Dealt:
    """The splits, drawn by ``split``."""
    seed = study.profile.seed
    return study.collect(
        Call(
            split,
            f"split {name} repeat={repeat}",
            {"store": study.store, "source": source, "repeat": repeat, "seed": 0 if seed is None else seed},
            (name, repeat),
        )
        for (name, source), repeat in product(sources.items(), range(study.profile.repeats))
    )
