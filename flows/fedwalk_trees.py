"""FedWalk's first phase: the devices report what the tree is built from, and the server broadcasts the tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from flows.study import Study
from flows.submission import Call
from tasks.steps.download import RawSource
from tasks.steps.tree import (
    bin_count,
    build_random_tree,
    build_tree,
    count_neighbours,
    publish_degrees,
    send_structural_matrices,
)
from tasks.store import PointRef

TREES = {"walk": "private", "release-once": "private", "walk-random-tree": "random", "walk-paper-tree": "paper"}
"""What a mode's tree is built from; the other modes need none."""


@dataclass(frozen=True)
class Tree:
    """A broadcast tree, the reports behind it, and their number of bins k (empty for the random tree)."""

    point: PointRef
    reports: tuple[PointRef, ...] = ()
    k: str = ""


Trees = dict[tuple[str, str, int], list[Tree]]
"""By (data set, what it was built from, repeat), one tree for each number of bins."""


def plant(study: Study, sources: dict[str, RawSource]) -> Trees:
    """The trees that the study's modes walk under."""
    kinds = {TREES[mode] for mode in study.profile.node_embedding.modes if mode in TREES}
    trees: Trees = defaultdict(list)
    if "private" in kinds:
        trees |= _grow(study, "private", private_reports(study, sources))
    if "paper" in kinds:
        trees |= _grow(study, "paper", paper_reports(study, sources))
    if "random" in kinds:
        calls = [
            Call(
                build_random_tree,
                f"build random tree {name} repeat={repeat}",
                {"store": study.store, "source": source, "repeat": repeat, "seed": study.profile.seed},
                (name, "random", repeat),
            )
            for (name, source), repeat in product(sources.items(), range(study.profile.repeats))
        ]
        trees |= {key: [Tree(point)] for key, point in study.collect(calls).items()}
    return trees


Reports = dict[tuple[str, int, int | str], tuple[PointRef, ...]]
"""By (data set, repeat, number of bins as the parameters give it); the tree is built from the last."""


def private_reports(study: Study, sources: dict[str, RawSource]) -> Reports:
    """Noisy degrees, once for a device, and then neighbours counted by published degree and public bin."""
    grid, seed, store = study.profile.node_embedding, study.profile.seed, study.store
    degrees = study.collect(
        Call(
            publish_degrees,
            f"publish degrees {name} eps_degree={grid.eps_degree} repeat={repeat}",
            {"store": store, "source": source, "eps_degree": grid.eps_degree, "repeat": repeat, "seed": seed},
            (name, repeat),
        )
        for (name, source), repeat in product(sources.items(), range(study.profile.repeats))
    )
    counts = study.collect(
        Call(
            count_neighbours,
            f"count neighbours {name} k={bins} eps_counts={grid.eps_counts} repeat={repeat}",
            {
                "store": store,
                "source": sources[name],
                "degrees": published,
                "bins": bins,
                "eps_counts": grid.eps_counts,
                "repeat": repeat,
                "seed": seed,
            },
            (name, repeat, bins),
        )
        for ((name, repeat), published), bins in product(degrees.items(), grid.bins)
    )
    return {key: (degrees[key[:2]], point) for key, point in counts.items()}


def paper_reports(study: Study, sources: dict[str, RawSource]) -> Reports:
    """The structural matrices that the paper's devices upload, which give every list away."""
    grid = study.profile.node_embedding
    matrices = study.collect(
        Call(
            send_structural_matrices,
            f"send structural matrices {name} k={bins} eps_counts={grid.eps_counts} repeat={repeat}",
            {
                "store": study.store,
                "source": source,
                "bins": bins,
                "eps_counts": grid.eps_counts,
                "repeat": repeat,
                "seed": study.profile.seed,
            },
            (name, repeat, bins),
        )
        for (name, source), repeat, bins in product(sources.items(), range(study.profile.repeats), grid.bins)
    )
    return {key: (point,) for key, point in matrices.items()}


def _grow(study: Study, kind: str, reports: Reports) -> Trees:
    trees: Trees = defaultdict(list)
    calls: Iterable[Call] = (
        Call(
            build_tree,
            f"build {kind} tree {name} k={bins} repeat={repeat}",
            {
                "store": study.store,
                "report": made_of[-1],
                "kind": kind,
                "linkage": study.profile.node_embedding.linkage,
                "dataset": name,
                "repeat": repeat,
                "seed": study.profile.seed,
            },
            (name, repeat, bins),
        )
        for (name, repeat, bins), made_of in reports.items()
    )
    for key, point in study.collect(calls).items():
        name, repeat, _ = key
        trees[name, kind, repeat].append(Tree(point, reports[key], str(bin_count(reports[key][-1]))))
    return trees
