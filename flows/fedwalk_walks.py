"""FedWalk's second phase, and the other ways to get walks that it is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from flows.fedwalk_trees import TREES, Tree, Trees
from flows.study import Study
from flows.submission import Call
from tasks.steps.download import RawSource
from tasks.steps.perturb import perturb_edges
from tasks.steps.walks import encode_lists, walk_devices, walk_reported_lists, walk_true_graph
from tasks.store import PointRef

LISTS_MODE = "directed-no-diagonal"
"""Randomised response like ``release-once``: each device answers for its own list, so both ends tell a relation."""


@dataclass(frozen=True)
class Cell:
    """One way to get walks: a line of the table but for the training ratio and the protocol of scoring."""

    dataset: str
    mode: str
    eps_encoder: str = ""
    p: str = ""
    k: str = ""
    walks: str = ""

    @property
    def method(self) -> str:
        """The row's method: the protocol that the mode is a variant of."""
        return self.mode if self.mode in ("deepwalk", "randomized-response") else "fedwalk"

    @property
    def settings(self) -> dict[str, str]:
        """The row's settings: those that the mode has."""
        return {name: value for name, value in asdict(self).items() if value and name != "dataset"}

    def __str__(self) -> str:
        return " ".join([self.dataset, self.mode, *(f"{n}={v}" for n, v in self.settings.items() if n != "mode")])


@dataclass(frozen=True)
class Walks:
    """What an embedding is learned from.

    Attributes:
        corpus: the walks.
        uploads: what the server received in place of the graph, None for DeepWalk, where it has the graph.
        form: of the uploads: ``walks``, ``encoded lists`` or ``noisy lists``.
        reports: every report that the users sent.
    """

    corpus: PointRef
    uploads: PointRef | None = None
    form: str = ""
    reports: tuple[PointRef, ...] = ()


AllWalks = dict[tuple[Cell, int], Walks]
"""By cell and repeat."""


def walks_of_devices(study: Study, sources: dict[str, RawSource], trees: Trees) -> AllWalks:
    """The protocol: devices pass walks on and upload them encoded."""
    grid, made = study.profile.node_embedding, {}
    modes = [mode for mode in grid.modes if mode.startswith("walk")]
    calls = (
        Call(
            walk_devices,
            f"walk {cell} repeat={repeat}",
            {
                **_common(study, repeat, walks),
                "source": sources[cell.dataset],
                "tree": tree.point,
                "eps_encoder": eps,
                "p": p,
            },
            (cell, repeat, tree),
        )
        for name, repeat, mode, tree in _planted(study, sources, trees, modes)
        for eps, p, walks in product(grid.eps_encoder, grid.p, grid.walks)
        for cell in [Cell(name, mode, eps, f"{p:g}", tree.k, str(walks))]
    )
    for (cell, repeat, tree), point in study.collect(calls).items():
        made[cell, repeat] = Walks(point, point, "walks", (*tree.reports, point))
    return made


def walks_over_lists(study: Study, sources: dict[str, RawSource], trees: Trees) -> AllWalks:
    """Devices report their lists once, encoded or under randomised response; the server walks those."""
    grid = study.profile.node_embedding
    received: AllWalks = {}
    encoding = (
        Call(
            encode_lists,
            f"encode lists {cell} repeat={repeat}",
            {
                "store": study.store,
                "source": sources[name],
                "tree": tree.point,
                "eps_encoder": eps,
                "repeat": repeat,
                "seed": study.profile.seed,
            },
            (cell, repeat, tree),
        )
        for name, repeat, mode, tree in _planted(study, sources, trees, [m for m in grid.modes if m == "release-once"])
        for eps in grid.eps_encoder
        for cell in [Cell(name, mode, eps, k=tree.k)]
    )
    for (cell, repeat, tree), point in study.collect(encoding).items():
        received[cell, repeat] = Walks(point, point, "encoded lists", (*tree.reports, point))
    if "randomized-response" in grid.modes:
        for (cell, repeat), point in study.collect(_randomise(study, sources)).items():
            received[cell, repeat] = Walks(point, point, "noisy lists", (point,))

    walking = (
        Call(
            walk_reported_lists,
            f"walk over {lists.form} {counted} repeat={repeat}",
            {
                **_common(study, repeat, walks),
                "lists": lists.corpus,
                "encoded": lists.form == "encoded lists",
                "dataset": cell.dataset,
            },
            (counted, repeat, lists),
        )
        for ((cell, repeat), lists), walks in product(received.items(), grid.walks)
        for counted in [replace(cell, walks=str(walks))]
    )
    return {
        (cell, repeat): replace(lists, corpus=corpus)
        for (cell, repeat, lists), corpus in study.collect(walking).items()
    }


def walks_in_clear(study: Study, sources: dict[str, RawSource]) -> AllWalks:
    """DeepWalk's walks: the baseline of a server that has the graph."""
    grid = study.profile.node_embedding
    if "deepwalk" not in grid.modes:
        return {}
    calls = (
        Call(
            walk_true_graph,
            f"walk {cell} repeat={repeat}",
            {**_common(study, repeat, walks), "source": source},
            (cell, repeat),
        )
        for (name, source), repeat, walks in product(sources.items(), range(study.profile.repeats), grid.walks)
        for cell in [Cell(name, "deepwalk", walks=str(walks))]
    )
    return {key: Walks(corpus) for key, corpus in study.collect(calls).items()}


def _randomise(study: Study, sources: dict[str, RawSource]) -> Iterator[Call]:
    grid = study.profile.node_embedding
    for (name, source), repeat, eps in product(sources.items(), range(study.profile.repeats), grid.eps_encoder):
        cell = Cell(name, "randomized-response", eps)
        arguments = {
            "store": study.store,
            "source": source,
            "mode": LISTS_MODE,
            "eps_a": eps,
            "repeat": repeat,
            "seed": study.profile.seed,
            "memory_limit_mb": grid.memory_limit_mb,
        }
        yield Call(perturb_edges, f"perturb lists {cell} repeat={repeat}", arguments, (cell, repeat))


def _planted(
    study: Study, sources: dict[str, RawSource], trees: Trees, modes: Sequence[str]
) -> Iterator[tuple[str, int, str, Tree]]:
    for name, repeat, mode in product(sources, range(study.profile.repeats), modes):
        for tree in trees.get((name, TREES[mode], repeat), []):
            yield name, repeat, mode, tree


def _common(study: Study, repeat: int, walks: int) -> dict[str, Any]:
    length = study.profile.node_embedding.length
    return {"store": study.store, "walks": walks, "length": length, "repeat": repeat, "seed": study.profile.seed}
