"""FedWalk's first phase: the devices report what the tree is built from, and the server broadcasts the tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flows.context.study import Study
from flows.execution.submission import Call
from flows.studies.node_embedding.grid import Wanted
from tasks.steps.download import RawSource
from tasks.steps.node_embedding.tree import (
    bin_count,
    build_random_tree,
    build_tree,
    count_neighbours,
    publish_degrees,
    send_structural_matrices,
)
from tasks.store import PointRef

TreeKey = tuple[str, str, int, int | str]
"""Data set, what it was built from, repeat, and bins as the parameters give them (empty for the random tree)."""


@dataclass(frozen=True)
class Tree:
    """A broadcast tree, the reports behind it (degrees and counts, or matrices), and their number of bins k."""

    point: PointRef
    reports: tuple[PointRef, ...] = ()
    k: str = ""


Trees = dict[TreeKey, Tree]
Reports = dict[TreeKey, tuple[PointRef, ...]]
"""The tree is built from the last."""


def plant(study: Study, sources: dict[str, RawSource], wanted: Sequence[Wanted]) -> Trees:
    """The trees that the wanted lines walk under."""
    keys = dict.fromkeys(line.tree for line in wanted if line.line.tree)
    reports = _private_reports(study, sources, [key for key in keys if key[1] == "private"])
    reports |= _paper_reports(study, sources, [key for key in keys if key[1] == "paper"])
    grown = study.collect(_grow(study, reports))
    trees = {key: Tree(point, reports[key], str(bin_count(reports[key][-1]))) for key, point in grown.items()}
    drawn = study.collect(
        Call(
            build_random_tree,
            f"build random tree {name} repeat={repeat}",
            {"store": study.store, "source": sources[name], "repeat": repeat, "seed": study.profile.seed},
            (name, kind, repeat, bins),
        )
        for name, kind, repeat, bins in keys
        if kind == "random"
    )
    return trees | {key: Tree(point) for key, point in drawn.items()}


def _private_reports(study: Study, sources: dict[str, RawSource], keys: Sequence[TreeKey]) -> Reports:
    """Noisy degrees, once for a device, and then neighbours counted by published degree and public bin."""
    grid, seed, store = study.profile.node_embedding, study.profile.seed, study.store
    degrees = study.collect(
        Call(
            publish_degrees,
            f"publish degrees {name} eps_degree={grid.eps_degree} repeat={repeat}",
            {"store": store, "source": sources[name], "eps_degree": grid.eps_degree, "repeat": repeat, "seed": seed},
            (name, repeat),
        )
        for name, repeat in dict.fromkeys((name, repeat) for name, _, repeat, _ in keys)
    )
    counts = study.collect(
        Call(
            count_neighbours,
            f"count neighbours {name} k={bins} eps_counts={grid.eps_counts} repeat={repeat}",
            {
                "store": store,
                "source": sources[name],
                "degrees": degrees[name, repeat],
                "bins": bins,
                "eps_counts": grid.eps_counts,
                "repeat": repeat,
                "seed": seed,
            },
            (name, kind, repeat, bins),
        )
        for name, kind, repeat, bins in keys
        if (name, repeat) in degrees
    )
    return {key: (degrees[key[0], key[2]], point) for key, point in counts.items()}


def _paper_reports(study: Study, sources: dict[str, RawSource], keys: Sequence[TreeKey]) -> Reports:
    """The structural matrices that the paper's devices upload, which give every list away."""
    grid = study.profile.node_embedding
    matrices = study.collect(
        Call(
            send_structural_matrices,
            f"send structural matrices {name} k={bins} eps_counts={grid.eps_counts} repeat={repeat}",
            {
                "store": study.store,
                "source": sources[name],
                "bins": bins,
                "eps_counts": grid.eps_counts,
                "repeat": repeat,
                "seed": study.profile.seed,
            },
            (name, kind, repeat, bins),
        )
        for name, kind, repeat, bins in keys
    )
    return {key: (point,) for key, point in matrices.items()}


def _grow(study: Study, reports: Reports) -> Iterator[Call]:
    for (name, kind, repeat, bins), made_of in reports.items():
        arguments = {
            "store": study.store,
            "report": made_of[-1],
            "kind": kind,
            "linkage": study.profile.node_embedding.linkage,
            "dataset": name,
            "repeat": repeat,
            "seed": study.profile.seed,
        }
        yield Call(
            build_tree, f"build {kind} tree {name} k={bins} repeat={repeat}", arguments, (name, kind, repeat, bins)
        )
