"""What the studies that classify begin with: one split a repeat, and the labels that the curator may know."""

from __future__ import annotations

from itertools import product
from typing import Any

from prefect import Task

from flows.study import Study
from flows.submission import Call
from tasks.steps.download import RawSource
from tasks.store import PointRef

Dealt = dict[tuple[str, int], PointRef]
"""Points by (data set, repeat)."""


def deal(
    study: Study, sources: dict[str, RawSource], split: Task[..., Any], report_labels: Task[..., Any]
) -> tuple[Dealt, Dealt]:
    """The splits, drawn by ``split``, and the label reports that ``report_labels`` makes of them."""
    seed, store = study.profile.seed, study.store
    splits = study.collect(
        Call(
            split,
            f"split {name} repeat={repeat}",
            {"store": store, "source": source, "repeat": repeat, "seed": 0 if seed is None else seed},
            (name, repeat),
        )
        for (name, source), repeat in product(sources.items(), range(study.profile.repeats))
    )
    labels = study.collect(
        Call(
            report_labels,
            f"report labels {name} repeat={repeat}",
            {"store": store, "source": sources[name], "split": point, "repeat": repeat},
            (name, repeat),
        )
        for (name, repeat), point in splits.items()
    )
    return splits, labels
