"""FedWalk's first phase: the devices report what the tree is built from, and the server broadcasts the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flows.context.study import Study
from flows.studies.node_embedding.grid import Wanted
from tasks.parameters.embedding import NodeEmbedding
from tasks.parameters.profiles import section_of
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


def build_trees(study: Study, sources: dict[str, RawSource], wanted: Sequence[Wanted]) -> Trees:
    """The trees that the wanted lines walk under."""
    keys = dict.fromkeys(line.tree for line in wanted if line.line.tree)
    reports = _private_reports(study, sources, [key for key in keys if key[1] == "private"])
    reports |= _paper_reports(study, sources, [key for key in keys if key[1] == "paper"])
    built = study.collect(
        study.call(
            build_tree,
            f"build {key[1]} tree",
            f"{key[0]} k={key[3]}",
            study.noise_repeat(key[0], key[2]),
            key=key,
            report=made_of[-1],
            kind=key[1],
            dataset=key[0],
        )
        for key, made_of in reports.items()
    )
    trees = {key: Tree(point, reports[key], str(bin_count(reports[key][-1]))) for key, point in built.items()}
    drawn = study.collect(
        study.call(
            build_random_tree,
            "build random tree",
            key[0],
            study.noise_repeat(key[0], key[2]),
            key=key,
            source=sources[key[0]],
        )
        for key in keys
        if key[1] == "random"
    )
    return trees | {key: Tree(point) for key, point in drawn.items()}


def _private_reports(study: Study, sources: dict[str, RawSource], keys: Sequence[TreeKey]) -> Reports:
    """Noisy degrees, once for a device, and then neighbours counted by published degree and public bin."""
    grid = section_of(study.profile, NodeEmbedding)
    degrees = study.collect(
        study.call(
            publish_degrees,
            "publish degrees",
            f"{name} eps_degree={grid.eps_degree}",
            repeat,
            key=(name, repeat),
            source=sources[name],
        )
        for name, repeat in dict.fromkeys((name, repeat) for name, _, repeat, _ in keys)
    )
    counts = study.collect(
        study.call(
            count_neighbours,
            "count neighbours",
            f"{name} k={bins} eps_counts={grid.eps_counts}",
            repeat,
            key=(name, kind, repeat, bins),
            source=sources[name],
            degrees=degrees[name, repeat],
            bins=bins,
        )
        for name, kind, repeat, bins in keys
        if (name, repeat) in degrees
    )
    return {key: (degrees[key[0], key[2]], point) for key, point in counts.items()}


def _paper_reports(study: Study, sources: dict[str, RawSource], keys: Sequence[TreeKey]) -> Reports:
    """The structural matrices that the paper's devices upload, which give every list away."""
    eps_counts = section_of(study.profile, NodeEmbedding).eps_counts
    matrices = study.collect(
        study.call(
            send_structural_matrices,
            "send structural matrices",
            f"{name} k={bins} eps_counts={eps_counts}",
            repeat,
            key=(name, kind, repeat, bins),
            source=sources[name],
            bins=bins,
        )
        for name, kind, repeat, bins in keys
    )
    return {key: (point,) for key, point in matrices.items()}
